// SPDX-License-Identifier: BSL-1.0
/// Reports and summaries as JSON.
#include <byre/shadow/summary.hpp>

#include <algorithm>
#include <bit>
#include <string_view>

namespace byre::inline v0::shadow {
namespace {

/// How many bytes at the start of `text` are one character of UTF-8, 0 if none are.
std::size_t character_length(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  const auto length = static_cast<std::size_t>(std::max(1, std::countl_one(first)));
  if (first < 0x80) {
    return 1;
  }
  if (length < 2 || length > 4 || text.size() < length) {
    return 0;
  }
  std::uint32_t character = first & (0x7fU >> length);
  for (const char each : text.substr(1, length - 1)) {
    if ((static_cast<unsigned char>(each) & 0xc0U) != 0x80U) {
      return 0;
    }
    character = character << 6U | (static_cast<unsigned char>(each) & 0x3fU);
  }
  constexpr std::uint32_t first_of_length[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = character >= 0xd800 && character < 0xe000;
  return character < first_of_length[length] || character > 0x10ffff || is_surrogate ? 0 : length;
}

/// In quotes, with what needs it escaped. Bytes that are not UTF-8 are the replacement character.
std::string quoted(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string result = "\"";
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      result += "\\ufffd";
    } else if (first == '"' || first == '\\') {
      result += {'\\', text[0]};
    } else if (first < 0x20) {
      result += std::string("\\u00") + digits[first >> 4U] + digits[first & 15U];
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result + "\"";
}

/// A member of an object, and of its first one without what parts it from others.
std::string member(const char* name, const std::string& value) {
  return std::string(", \"") + name + "\": " + value;
}
std::string member(const char* name, std::uint64_t value) {
  return member(name, std::to_string(value));
}
std::string object(const std::string& members) {
  return "{" + members.substr(2) + "}";
}

std::string members_of(const CallSite& site) {
  return member("file", quoted(site.file)) + member("line", site.line);
}

std::string sizes_of(const Shape& shape) {
  std::string sizes;
  for (const std::int64_t size : shape.sizes()) {
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  }
  return "[" + sizes + "]";
}

std::string json_of(const TensorSite& at) {
  std::string members =
      members_of(at.site) + member("ndim", at.shape.ndim()) + member("sizes", sizes_of(at.shape));
  if (at.mode) {
    members += member("from_ndim", at.from.ndim()) + member("from_sizes", sizes_of(at.from)) +
               member("mode", quoted(name_of(*at.mode)));
  }
  return object(members);
}

/// A line each.
template <class Element, class ToJson>
std::string list(const std::vector<Element>& elements, const ToJson& json_of_each) {
  std::string text;
  for (const Element& each : elements) {
    text += (text.empty() ? "\n  " : ",\n  ") + json_of_each(each);
  }
  return "[" + text + "]";
}

}  // namespace

std::string to_json(const Violation& violation) {
  return object(
      member("reshape", json_of(violation.reshape)) + member("write", json_of(violation.write)) +
      member("access", json_of(violation.access)) +
      member("access_is", quoted(violation.access_writes ? "write" : "read")) +
      member("advice", quoted(to_string(violation.advice))) + member("count", violation.count) +
      member("untracked_escapes", violation.untracked_escapes) +
      member("first_escape", object(members_of(violation.first_escape))));
}

std::string to_json(const Summary& summary) {
  return object(member("reshapes", summary.reshapes) + member("violations", summary.violations) +
                member("suppressed", summary.suppressed) +
                member("untracked_escapes", summary.untracked_escapes) +
                member("escape_sites", list(summary.escape_sites,
                                            [](const EscapeSite& each) {
                                              return object(members_of(each.site) +
                                                            member("storages", each.storages));
                                            })) +
                member("triples", list(summary.triples,
                                       [](const Violation& each) { return to_json(each); }))) +
         "\n";
}

}  // namespace byre::inline v0::shadow
