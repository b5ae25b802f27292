// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/json.hpp>
#include <byre/shadow/report.hpp>

#include <exception>
#include <string_view>

namespace byre::inline v0::shadow {
namespace {

/// How much is said of a place, where there is not room for all.
struct Room {
  std::size_t most_of_a_name = std::string::npos;
  bool has_sizes = true;
};
constexpr Room rooms[] = {{}, {120}, {60}, {60, false}};

/// The end of a name says more than its beginning, which says where it is.
std::string shortened(std::string name, std::size_t most) {
  constexpr std::string_view gap = "...";
  if (name.size() > most) {
    const std::size_t front = most / 4;
    name.replace(front, name.size() - most + gap.size(), gap);
  }
  return name;
}

std::string line_of(const char* what, const Place& place, const std::string& sizes, Room room) {
  const std::string begin = std::string("\n  ") + what + " at ";
  return place.is_known()
             ? begin + shortened(place.site.file, room.most_of_a_name) + ":" +
                   std::to_string(place.site.line) + (room.has_sizes ? ", " + sizes : "")
             : begin + "a place that is not known";
}

std::string places_of(const Violation& violation, Room room) {
  const auto as = [](const Place& place) { return "as " + to_string(place.shape); };
  const Place& reshape = violation.reshape;
  return line_of("reshaped", reshape, to_string(reshape.from) + " to " + to_string(reshape.shape),
                 room) +
         line_of("written", violation.write, as(violation.write), room) +
         line_of(violation.access_writes ? "then written" : "then read", violation.access,
                 as(violation.access), room);
}

std::string what_to_write(const Violation& violation) {
  switch (violation.advice) {
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
      return "If each is to have its own contents, there is nothing to do but to silence this "
             "until reshape copies; if the two are to share memory, write view in place of that "
             "reshape.";
  }
  return "";
}

std::string sizes_json(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape.sizes()) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + "]";
}

std::string place_json(const Place& place, const char* backtrace) {
  std::string text = "{\"file\": " + json_string(place.site.file) +
                     ", \"line\": " + std::to_string(place.site.line) +
                     ", \"ndim\": " + std::to_string(place.shape.ndim()) +
                     ", \"sizes\": " + sizes_json(place.shape);
  if (place.mode) {
    text += ", \"from_ndim\": " + std::to_string(place.from.ndim()) +
            ", \"from_sizes\": " + sizes_json(place.from) +
            ", \"mode\": " + json_string(name_of(*place.mode));
  }
  if (*backtrace != '\0') {
    text += ", \"backtrace\": " + json_string(backtrace);
  }
  return text + "}";
}

std::string text_in(const Violation& violation, Room room) {
  std::string text =
      "this code relies on reshape sharing memory with what it reshapes, and reshape is to become "
      "a copy." +
      places_of(violation, room) +
      (violation.access_writes
           ? "\nToday the second write goes to the memory of the first; with a copy each has its "
             "own. "
           : "\nToday the read sees what was written; with a copy it will not. ") +
      what_to_write(violation);
  if (!violation.reshape.is_known() || !violation.write.is_known()) {
    text += "\nA place that is not known may be several, which are told as one.";
  }
  if (violation.count > 1) {
    text += "\nIt happened " + std::to_string(violation.count) + " times.";
  }
  if (violation.unaudited > 0) {
    text += "\nRaw pointers to write to this memory were handed out at " +
            std::to_string(violation.unaudited) + (violation.unaudited == 1 ? " line" : " lines") +
            ": what is done through them is not seen.";
  }
  return text;
}

}  // namespace

const char* to_string(Advice advice) noexcept {
  switch (advice) {
    case Advice::view:
      return "view";
    case Advice::reshape_and_clone:
      return "reshape_and_clone";
    case Advice::view_or_clone:
      return "view_or_clone";
    case Advice::nothing:
      return "nothing";
  }
  return "?";
}

std::string to_string(const Violation& violation) {
  return text_in(violation, {});
}

Text text_of(const Violation& violation) noexcept {
  try {
    std::string text;
    for (const Room& room : rooms) {
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

std::vector<std::string> backtraces_of(const Violation& violation) {
  std::vector<std::string> texts;
  const auto add = [&](const char* what, const char* backtrace) {
    if (*backtrace != '\0') {
      texts.push_back(std::string(what) + " by way of\n" + backtrace);
    }
  };
  add("reshaped", violation.reshape_backtrace);
  add("written", violation.write_backtrace);
  add(violation.access_writes ? "then written" : "then read", violation.access_backtrace);
  return texts;
}

std::string to_json(const Violation& violation) {
  return "{\"reshape\": " + place_json(violation.reshape, violation.reshape_backtrace) +
         ", \"write\": " + place_json(violation.write, violation.write_backtrace) +
         ", \"access\": " + place_json(violation.access, violation.access_backtrace) +
         ", \"access_is\": " + json_string(violation.access_writes ? "write" : "read") +
         ", \"advice\": " + json_string(to_string(violation.advice)) +
         ", \"count\": " + std::to_string(violation.count) +
         ", \"unaudited\": " + std::to_string(violation.unaudited) + "}";
}

}  // namespace byre::inline v0::shadow
