// SPDX-License-Identifier: BSD-3-Clause
#include "common/engine_report.h"

#include <dlfcn.h>

namespace workloads {

Json engine_report() {
  using Report = const char* (*)();
  const auto report = reinterpret_cast<Report>(dlsym(RTLD_DEFAULT, "pe_report_json"));
  if (report == nullptr) {
    return nullptr;
  }
  const char* text = report();
  Json parsed = Json::parse(text == nullptr ? "" : text, nullptr, false);
  return parsed.is_object() ? parsed : Json{{"malformed_report", text == nullptr ? "" : text}};
}

}  // namespace workloads
