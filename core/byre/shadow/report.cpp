// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/report.hpp>

#include <cstring>
#include <exception>
#include <new>

namespace byre::inline BYRE_ABI::shadow {
namespace {

/// Shortens long names at their beginning, because the end of a file's name is more specific.
std::string name_of(const CallSite& site, std::size_t most) {
  if (site.line == 0) {
    return "an unknown call site";
  }
  std::string name = site.file;
  if (name.size() > most) {
    name.replace(most / 4, name.size() - most + 3, "...");
  }
  return name + ":" + std::to_string(site.line);
}

std::string line_of(const char* what, const TensorSite& at, const std::string& sizes,
                    std::size_t most) {
  return std::string("\n  ") + what + " at " + name_of(at.site, most) +
         (at.is_known() ? ", " + sizes : "");
}

const char* advice_text(Advice advice) noexcept {
  switch (advice) {
    case Advice::view:
      return "If the two tensors should share memory, write view in place of that reshape; if each "
             "should have its own contents, write reshape(...).clone().";
    case Advice::reshape_and_clone:
      return "If the values from before the write are wanted, write reshape(...).clone() in place "
             "of that reshape; if the written values are wanted, write view.";
    case Advice::view_or_clone:
      return "If the reshaped tensor should follow writes to the other, write view in place of "
             "that reshape; if it should keep the earlier values, write reshape(...).clone().";
    case Advice::nothing:
      break;
  }
  return "If each tensor should have its own contents, suppress this report until reshape copies; "
         "if the two should share memory, write view in place of that reshape.";
}

/// Shortens the names of files to about `most` characters.
std::string text_in(const Violation& violation, std::size_t most) {
  const TensorSite& reshape = violation.reshape;
  std::string text =
      "this code relies on reshape sharing memory with its input, but reshape will become a "
      "copy." +
      line_of("reshaped", reshape, to_string(reshape.from) + " to " + to_string(reshape.shape),
              most) +
      line_of("written", violation.write, "as " + to_string(violation.write.shape), most) +
      line_of(violation.access_writes ? "then written" : "then read", violation.access,
              "as " + to_string(violation.access.shape), most) +
      (violation.access_writes
           ? "\nToday the second write goes to the memory of the first; with a copy, each tensor "
             "has its own. "
           : "\nToday the read returns the written values; with a copy, it will not. ") +
      advice_text(violation.advice);
  if (!reshape.is_known() || !violation.write.is_known()) {
    text += "\nAn unknown call site may stand for several, which are reported as one.";
  }
  if (violation.count > 1) {
    text += "\nIt happened " + std::to_string(violation.count) + " times.";
  }
  if (const std::uint64_t times = violation.untracked_escapes; times > 0) {
    text += "\nRaw pointers to write to this memory were handed out " + std::to_string(times) +
            (times == 1 ? " time" : " times") + ", first at " +
            name_of(violation.first_escape, most) + ": accesses through them are not tracked.";
  }
  return text;
}

}  // namespace

std::string to_string(const Shape& shape) try {
  std::string text = "[";
  for (const std::int64_t size : shape.sizes()) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + (shape.ndim() > Shape::most_sizes ? ", ...]" : "]");
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("to_string");
}

bool same_site(const CallSite& a, const CallSite& b) noexcept {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

const char* to_string(Advice advice) noexcept {
  constexpr const char* names[] = {"view", "reshape_and_clone", "view_or_clone", "nothing"};
  return names[static_cast<std::size_t>(advice)];
}

std::string to_string(const Violation& violation) try {
  return text_in(violation, std::string::npos);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("to_string");
}

Text text_of(const Violation& violation) noexcept {
  try {
    for (const std::size_t most : {std::string::npos, std::size_t{120}, std::size_t{50}}) {
      const std::string text = text_in(violation, most);
      if (text.size() < Text{}.chars.size()) {
        return format_text("%s", text.c_str());
      }
    }
  } catch (const std::exception&) {
    // There is no memory: only the call sites are reported.
  }
  return format_text(
      "%.250s:%u: this access relies on the reshape at %.250s:%u sharing memory with its input, "
      "written at %.250s:%u.",
      violation.access.site.file, violation.access.site.line, violation.reshape.site.file,
      violation.reshape.site.line, violation.write.site.file, violation.write.site.line);
}

}  // namespace byre::inline BYRE_ABI::shadow
