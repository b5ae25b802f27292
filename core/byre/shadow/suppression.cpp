// SPDX-License-Identifier: BSL-1.0
#include <byre/error/error.hpp>
#include <byre/files/detail/input_file.hpp>
#include <byre/shadow/detail/report_book.hpp>
#include <byre/shadow/suppression.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/sync/detail/relaxed.hpp>

#include <algorithm>
#include <charconv>
#include <list>
#include <new>
#include <optional>
#include <string>
#include <string_view>

namespace byre::inline BYRE_ABI::shadow {
namespace {

struct Suppression {
  std::string file;
  std::optional<std::uint32_t> line{};

  bool matches(const CallSite& site) const noexcept {
    const std::string_view name = site.file;
    const bool ends_in_it = name.ends_with(file) && (name.size() == file.size() ||
                                                     name[name.size() - file.size() - 1] == '/');
    return site.line != 0 && ends_in_it && (!line || *line == site.line);
  }
};

struct Suppressions {
  sync::ProcessMutex mutex;
  std::list<Suppression> list;
};

constinit thread_local unsigned scopes_of_thread = 0;
/// 1 if a file of suppressions was read. Programs without such a file do not take the lock.
constinit sync::detail::RelaxedCounter has_suppressions;

constexpr std::string_view blanks = " \t\r";

std::string_view without_comment_and_blanks(std::string_view line) {
  for (std::size_t at = line.find('#'); at != line.npos; at = line.find('#', at + 1)) {
    if (at == 0 || blanks.find(line[at - 1]) != blanks.npos) {
      line = line.substr(0, at);
      break;
    }
  }
  const std::size_t first = line.find_first_not_of(blanks);
  return first == line.npos ? "" : line.substr(first, line.find_last_not_of(blanks) + 1 - first);
}

/// nullopt if the entry is not of the form `file` or `file:line`.
std::optional<Suppression> parsed(std::string_view entry) {
  const std::size_t colon = entry.rfind(':');
  const std::string_view file = entry.substr(0, colon);
  if (file.empty() || file.ends_with('/') || file.find_first_of(blanks) != file.npos) {
    return std::nullopt;
  }
  if (colon == entry.npos) {
    return Suppression{std::string(file)};
  }
  const std::string_view digits = entry.substr(colon + 1);
  std::uint32_t line = 0;
  const char* const end = std::from_chars(digits.begin(), digits.end(), line).ptr;
  // `line` stays 0, which is not a valid line, if the digits are missing or their number is too
  // large.
  if (end != digits.end() || line == 0) {
    return std::nullopt;
  }
  return Suppression{std::string(file), line};
}

std::list<Suppression> read_list(const FileName& name) {
  byre::detail::InputFile file(name);
  std::string content(file.nbytes(), '\0');
  file.read(content.data(), content.size());
  std::list<Suppression> list;
  std::size_t begin = 0;
  for (unsigned number = 1; begin < content.size(); ++number) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    const std::string entry(
        without_comment_and_blanks(std::string_view(content).substr(begin, end - begin)));
    begin = end + 1;
    if (entry.empty()) {
      continue;
    }
    std::optional<Suppression> suppression = parsed(entry);
    if (!suppression) {
      throw FileError(format_text(
          "%.500s:%u: \"%.100s\" is not a call site. Write the end of a file's name, alone or with "
          "a line, as in \"model/layers.cpp:12\". Comments begin with #.",
          name.c_str(), number, entry.c_str()));
    }
    list.push_back(*std::move(suppression));
  }
  return list;
}

}  // namespace

ScopedSuppression::ScopedSuppression() noexcept {
  ++scopes_of_thread;
}
ScopedSuppression::~ScopedSuppression() {
  --scopes_of_thread;
}

void suppress_sites(const std::filesystem::path& path) try {
  std::list<Suppression> more = read_list(path);
  auto& all = sync::no_destructor<Suppressions>();
  const sync::ProcessLock lock(all.mutex);
  all.list.splice(all.list.end(), more);
  has_suppressions.set(1);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("suppress_sites");
}

bool detail::thread_is_suppressed() noexcept {
  return scopes_of_thread > 0;
}

bool detail::is_suppressed(const CallSite& site) noexcept {
  if (has_suppressions.value() == 0) {
    return false;
  }
  auto& all = sync::no_destructor<Suppressions>();
  const sync::ProcessLock lock(all.mutex);
  return std::ranges::any_of(all.list, [&](const Suppression& each) { return each.matches(site); });
}

}  // namespace byre::inline BYRE_ABI::shadow
