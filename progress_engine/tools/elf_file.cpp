// SPDX-License-Identifier: BSD-3-Clause
#include "elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "split.hpp"

namespace progress_engine {
namespace {

// No stream: this is loaded into each process that a shell starts, and streams bring a megabyte of the C++ library.
class File {
 public:
  explicit File(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Zeros beyond the file's end.
  template <typename Part>
  Part read_at(std::uint64_t offset) const {
    Part part{};
    if (pread(descriptor_, &part, sizeof part, static_cast<off_t>(offset)) != sizeof part) return Part{};
    return part;
  }

  // "" beyond the file's end.
  std::string text_at(std::uint64_t offset) const {
    std::string text;
    std::array<char, 256> part{};
    for (ssize_t got = 0; (got = pread(descriptor_, part.data(), part.size(), static_cast<off_t>(offset))) > 0;) {
      auto* const end = std::find(part.begin(), part.begin() + got, '\0');
      text.append(part.begin(), end);
      if (end != part.begin() + got) return text;
      offset += static_cast<std::uint64_t>(got);
    }
    return "";
  }

 private:
  int descriptor_;
};

std::vector<Elf64_Phdr> segments_of(const File& file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Phdr> segments;
  segments.reserve(header.e_phnum);
  for (std::uint64_t i = 0; i < header.e_phnum; ++i)
    segments.push_back(file.read_at<Elf64_Phdr>(header.e_phoff + i * header.e_phentsize));
  return segments;
}

// A list of folders as the loader reads it: $ORIGIN is the file's own.
void add_folders(const std::string& list, const std::string& path, std::vector<std::string>& folders) {
  const auto slash = path.rfind('/');
  const auto own = slash == std::string::npos ? "." : path.substr(0, slash);
  for (auto folder : split(list, ':')) {
    for (const std::string_view name : {"$ORIGIN", "${ORIGIN}"})
      if (folder.starts_with(name)) folder.replace(0, name.size(), own);
    if (!folder.empty()) folders.push_back(folder);
  }
}

void read_dynamic_section(const File& file, const std::vector<Elf64_Phdr>& segments, const std::string& path,
                          ElfFile& result) {
  const auto dynamic = std::ranges::find(segments, Elf64_Word{PT_DYNAMIC}, &Elf64_Phdr::p_type);
  if (dynamic == segments.end()) return;
  std::vector<Elf64_Dyn> entries;
  std::uint64_t strings = 0;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic->p_filesz; at += sizeof(Elf64_Dyn)) {
    entries.push_back(file.read_at<Elf64_Dyn>(dynamic->p_offset + at));
    if (entries.back().d_tag == DT_NULL) break;
    if (entries.back().d_tag == DT_STRTAB) strings = entries.back().d_un.d_ptr;
  }
  const auto loaded = std::ranges::find_if(segments, [&](const Elf64_Phdr& segment) {
    return segment.p_type == PT_LOAD && strings >= segment.p_vaddr && strings - segment.p_vaddr < segment.p_filesz;
  });
  if (loaded == segments.end()) return;
  for (const auto& entry : entries) {
    const auto text = [&] { return file.text_at(loaded->p_offset + (strings - loaded->p_vaddr) + entry.d_un.d_val); };
    if (entry.d_tag == DT_SONAME) result.soname = text();
    if (entry.d_tag == DT_NEEDED) result.needed.push_back(text());
    if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) add_folders(text(), path, result.folders);
  }
}

}  // namespace

ElfFile read_elf_file(const std::string& path) {
  ElfFile result;
  const File file(path);
  const auto header = file.read_at<Elf64_Ehdr>(0);
  result.is_elf = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
  result.has_64_bits = result.is_elf && header.e_ident[EI_CLASS] == ELFCLASS64;
  if (!result.has_64_bits) return result;
  const auto segments = segments_of(file, header);
  const auto named = std::ranges::find(segments, Elf64_Word{PT_INTERP}, &Elf64_Phdr::p_type);
  if (named != segments.end()) result.interpreter = file.text_at(named->p_offset);
  read_dynamic_section(file, segments, path, result);
  return result;
}

}  // namespace progress_engine
