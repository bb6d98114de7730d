// SPDX-License-Identifier: BSD-3-Clause
#include "policy/sources.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace progress_engine {
namespace {

constexpr std::string_view variant_name = "PROGRESS_ENGINE";
constexpr std::string_view file_name = "PROGRESS_ENGINE_CONFIG";

std::string trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

std::string variable(char* const* environment, std::string_view name) {
  for (; environment && *environment; ++environment) {
    const std::string_view entry(*environment);
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('='))
      return std::string(entry.substr(name.size() + 1));
  }
  return "";
}

// One line of a configuration file.
void read_line(std::string_view line, Source& source) {
  const auto text = trimmed(line.substr(0, line.find('#')));
  if (text.empty()) return;
  const auto equals = text.find('=');
  if (equals == std::string::npos) throw SettingError(fmt::format("'{}' must be KEY = VALUE.", text));
  const auto key = trimmed(std::string_view(text).substr(0, equals));
  const auto value = trimmed(std::string_view(text).substr(equals + 1));
  if (key == "variant") {
    source.variant = value;
    return;
  }
  check_value(key, value);
  source.values[key] = value;
}

void set_origins(Resolved& resolved, const Values& values, const std::string& origin) {
  for (const auto& [key, value] : values) resolved.origins[key] = origin;
}

Values preset_values(const std::string& variant) {
  Values values;
  for (const auto& [key, value] : all_presets()[variant]["settings"].items()) values[key] = "";
  return values;
}

}  // namespace

Source read_configuration(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw SettingError(fmt::format("{}: {} cannot be read.", file_name, path));
  Source source{.origin = path, .values = {}, .variant = ""};
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    try {
      read_line(line, source);
    } catch (const SettingError& error) {
      throw SettingError(fmt::format("{}, line {}: {}", path, number, error.what()));
    }
  }
  if (file.bad()) throw SettingError(fmt::format("{}: {} cannot be read: is it a file?", file_name, path));
  return source;
}

std::vector<Source> sources_of_process(char* const* environment) {
  std::vector<Source> sources;
  if (const auto path = variable(environment, file_name); !path.empty()) sources.push_back(read_configuration(path));
  sources.push_back({"the environment", overrides_from_environment(environment), variable(environment, variant_name)});
  return sources;
}

Resolved resolve(const std::vector<Source>& sources) {
  Resolved resolved{.variant = "adaptive", .values = {}, .origins = {}};
  Values overrides;
  for (const auto& source : sources) {
    if (!source.variant.empty()) resolved.variant = source.variant;
    for (const auto& [key, value] : source.values) overrides[key] = value;
  }
  resolved.values = resolve_values(resolved.variant, overrides);
  set_origins(resolved, resolved.values, "default");
  set_origins(resolved, preset_values(resolved.variant), fmt::format("variant {}", resolved.variant));
  for (const auto& source : sources) set_origins(resolved, source.values, source.origin);
  return resolved;
}

}  // namespace progress_engine
