// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/report.hpp>

#include <cstring>
#include <exception>

namespace byre::inline v0::shadow {
namespace {

/// How much is said of a call site, where there is not room for all.
struct Room {
  std::size_t most_of_a_name = std::string::npos;
  bool has_sizes = true;
};

/// The end of a file's name says more than its beginning, which says where it is.
std::string name_of(const CallSite& site, Room room) {
  if (site.line == 0) {
    return "a call site that is not known";
  }
  std::string name = site.file;
  if (const std::size_t most = room.most_of_a_name; name.size() > most) {
    name.replace(most / 4, name.size() - most + 3, "...");
  }
  return name + ":" + std::to_string(site.line);
}

std::string line_of(const char* what, const TensorSite& at, const std::string& sizes, Room room) {
  return std::string("\n  ") + what + " at " + name_of(at.site, room) +
         (at.is_known() && room.has_sizes ? ", " + sizes : "");
}

const char* what_to_write(Advice advice) noexcept {
  switch (advice) {
    case Advice::view:
      return "If the two are to share memory, write view in place of that reshape; if each is to "
             "have its own contents, write reshape(...).clone().";
    case Advice::reshape_and_clone:
      return "If what was there before the write is wanted, write reshape(...).clone() in place of "
             "that reshape; if what was written is, write view.";
    case Advice::view_or_clone:
      return "If the reshaped tensor is to follow what is written to the other, write view "
             "in place of that reshape; if it is to keep what was there before, write "
             "reshape(...).clone().";
    case Advice::nothing:
      break;
  }
  return "If each is to have its own contents, there is nothing to do but to suppress this until "
         "reshape copies; if the two are to share memory, write view in place of that reshape.";
}

std::string text_in(const Violation& violation, Room room) {
  const TensorSite& reshape = violation.reshape;
  std::string text =
      "this code relies on reshape sharing memory with what it reshapes, and reshape is to become "
      "a copy." +
      line_of("reshaped", reshape, to_string(reshape.from) + " to " + to_string(reshape.shape),
              room) +
      line_of("written", violation.write, "as " + to_string(violation.write.shape), room) +
      line_of(violation.access_writes ? "then written" : "then read", violation.access,
              "as " + to_string(violation.access.shape), room) +
      (violation.access_writes
           ? "\nToday the second write goes to the memory of the first; with a copy each has its "
             "own. "
           : "\nToday the read sees what was written; with a copy it will not. ") +
      what_to_write(violation.advice);
  if (!reshape.is_known() || !violation.write.is_known()) {
    text += "\nA call site that is not known may be several, which are reported as one.";
  }
  if (violation.count > 1) {
    text += "\nIt happened " + std::to_string(violation.count) + " times.";
  }
  if (const std::uint64_t times = violation.untracked_escapes; times > 0) {
    text += "\nRaw pointers to write to this memory were handed out " + std::to_string(times) +
            (times == 1 ? " time" : " times") + ", first at " +
            name_of(violation.first_escape, room) + ": what is done through them is not seen.";
  }
  return text;
}

}  // namespace

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape.sizes()) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + (shape.ndim() > Shape::most_sizes ? ", ...]" : "]");
}

bool same_site(const CallSite& a, const CallSite& b) noexcept {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

const char* to_string(Advice advice) noexcept {
  constexpr const char* names[] = {"view", "reshape_and_clone", "view_or_clone", "nothing"};
  return names[static_cast<std::size_t>(advice)];
}

std::string to_string(const Violation& violation) {
  return text_in(violation, {});
}

Text text_of(const Violation& violation) noexcept {
  try {
    std::string text;
    for (const Room& room : {Room{}, {120}, {60}, {60, false}}) {
      text = text_in(violation, room);
      if (text.size() < Text{}.chars.size()) {
        break;
      }
    }
    return format_text("%s", text.c_str());
  } catch (const std::exception&) {
    return format_text(
        "%.250s:%u: this relies on the reshape at %.250s:%u sharing memory with what it reshapes, "
        "which was written at %.250s:%u; there is no memory to say more.",
        violation.access.site.file, violation.access.site.line, violation.reshape.site.file,
        violation.reshape.site.line, violation.write.site.file, violation.write.site.line);
  }
}

}  // namespace byre::inline v0::shadow
