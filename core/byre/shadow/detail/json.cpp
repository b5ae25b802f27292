// SPDX-License-Identifier: BSL-1.0
/// Reports and summaries as JSON.
#include <byre/error/detail/json_text.hpp>
#include <byre/shadow/summary.hpp>

#include <new>

namespace byre::inline BYRE_ABI::shadow {
namespace {

using byre::detail::in_quotes;
using byre::detail::member;
using byre::detail::object;

std::string members_of(const CallSite& site) {
  return member("file", in_quotes(site.file)) + member("line", site.line);
}

/// Omits the "..." of a shape with more dimensions than it stores sizes.
std::string sizes_of(const Shape& shape) {
  return to_string(Shape(shape.sizes()));
}

std::string json_of(const TensorSite& at) {
  std::string members =
      members_of(at.site) + member("ndim", at.shape.ndim()) + member("sizes", sizes_of(at.shape));
  if (at.mode) {
    members += member("from_ndim", at.from.ndim()) + member("from_sizes", sizes_of(at.from)) +
               member("mode", in_quotes(name_of(*at.mode)));
  }
  return object(members);
}

}  // namespace

std::string to_json(const Violation& violation) try {
  return object(
      member("reshape", json_of(violation.reshape)) + member("write", json_of(violation.write)) +
      member("access", json_of(violation.access)) +
      member("access_is", in_quotes(violation.access_writes ? "write" : "read")) +
      member("advice", in_quotes(to_string(violation.advice))) + member("count", violation.count) +
      member("untracked_escapes", violation.untracked_escapes) +
      member("first_escape", object(members_of(violation.first_escape))));
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("to_json");
}

std::string to_json(const Summary& summary) try {
  std::string triples;  // one triple per line
  for (const Violation& each : summary.triples) {
    triples += (triples.empty() ? "\n  " : ",\n  ") + to_json(each);
  }
  return object(member("reshapes", summary.reshapes) + member("violations", summary.violations) +
                member("suppressed", summary.suppressed) +
                member("untracked_escapes", summary.untracked_escapes) +
                member("first_escape", object(members_of(summary.first_escape))) +
                member("triples", "[" + triples + "]")) +
         "\n";
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("to_json");
}

}  // namespace byre::inline BYRE_ABI::shadow
