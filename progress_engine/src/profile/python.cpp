// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_set>

#include "platform/loaded_object.hpp"
#include "profile/call.hpp"

namespace progress_engine::profile {
namespace {

struct Object;  // PyObject, PyFrameObject, PyCodeObject

// Of Python's stable application binary interface (PEP 384), so that one build serves every Python from 3.9 on.
struct Python {
  int (*is_initialized)();
  int (*ensure)();
  void (*release)(int);
  Object* (*frame)();  // borrowed
  Object* (*back)(Object*);
  Object* (*code)(Object*);
  int (*line)(Object*);
  Object* (*attribute)(Object*, const char*);
  const char* (*utf8)(Object*, std::ptrdiff_t*);
  void (*forget)(Object*);
  void (*clear_error)();
};

template <typename Function>
bool look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

// Null where one is missing: no Python, or one before 3.9.
const Python* python() {
  static Python api{};
  static const bool found = look_up(api.is_initialized, "Py_IsInitialized") &&
                            look_up(api.ensure, "PyGILState_Ensure") && look_up(api.release, "PyGILState_Release") &&
                            look_up(api.frame, "PyEval_GetFrame") && look_up(api.back, "PyFrame_GetBack") &&
                            look_up(api.code, "PyFrame_GetCode") && look_up(api.line, "PyFrame_GetLineNumber") &&
                            look_up(api.attribute, "PyObject_GetAttrString") &&
                            look_up(api.utf8, "PyUnicode_AsUTF8AndSize") && look_up(api.forget, "Py_DecRef") &&
                            look_up(api.clear_error, "PyErr_Clear");
  return found ? &api : nullptr;
}

std::string text_of(const Python& api, Object* code, const char* name) {
  std::string text;
  if (Object* const value = api.attribute(code, name)) {
    if (const char* words = api.utf8(value, nullptr)) text = words;
    api.forget(value);
  }
  api.clear_error();
  return text;
}

std::string place_of(const Python& api, Object* frame) {
  Object* const code = api.code(frame);
  const auto file = text_of(api, code, "co_filename");
  const auto function = text_of(api, code, "co_name");
  api.forget(code);
  return function + "() " + std::string(name_of_file(file)) + ":" + std::to_string(api.line(frame));
}

// The same text has the same address: by that call sites are told apart.
const char* kept(const std::string& text) {
  static auto* mutex = new std::mutex;
  static auto* texts = new std::unordered_set<std::string>;
  const std::scoped_lock lock(*mutex);
  return texts->insert(text).first->c_str();
}

}  // namespace

bool is_python_binding(std::string_view path) {
  return path.find("/mpi4py/") != std::string_view::npos && name_of_file(path).starts_with("MPI.");
}

const char* python_line(int frames) {
  const Python* api = python();
  if (!api || api->is_initialized() == 0) return nullptr;
  const char* found = nullptr;
  const int state = api->ensure();
  if (Object* const innermost = api->frame()) {
    auto text = place_of(*api, innermost);
    Object* frame = api->back(innermost);  // ours, other than the first
    for (int i = 1; frame && i < frames; ++i) {
      text += " < " + place_of(*api, frame);
      Object* const outer = api->back(frame);
      api->forget(frame);
      frame = outer;
    }
    if (frame) api->forget(frame);
    found = kept(text);
  }
  api->release(state);
  return found;
}

}  // namespace progress_engine::profile
