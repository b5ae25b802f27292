// SPDX-License-Identifier: BSL-1.0
#include "evidence.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace examples::reshape_audit {
namespace {

Lines lines_of(const Run& run) {
  Lines lines;
  for (const Seen& seen : run.journal.all()) {
    lines.insert(seen.line);
  }
  return lines;
}

/// Where one shows what the other does not.
Lines differing(const Run& one_run, const Run& other_run) {
  const auto& one = one_run.journal.all();
  const auto& other = other_run.journal.all();
  Lines lines;
  for (std::size_t at = 0; at < std::max(one.size(), other.size()); ++at) {
    for (const auto& [seen, others] : {std::pair(&one, &other), {&other, &one}}) {
      if (at < seen->size() && (at >= others->size() || (*seen)[at] != (*others)[at])) {
        lines.insert((*seen)[at].line);
      }
    }
  }
  return lines;
}

}  // namespace

Evidence::Evidence(const Pipeline& pipeline)
    : pipeline_(pipeline.run),
      aliased_(run_in(as_alias, pipeline_)),
      copied_(run_in(as_copy, pipeline_)),
      shown_(lines_of(aliased_)),
      by_access_(differing(aliased_, copied_)) {
  shown_.merge(lines_of(copied_));
}

Lines Evidence::by_reshape(std::uint32_t line) const {
  return differing(aliased_, run_in(as_alias, pipeline_, {.reshape = line}));
}

Lines Evidence::by_write(std::uint32_t line) const {
  const Lines aliases = differing(aliased_, run_in(as_alias, pipeline_, {.write = line}));
  const Lines copies = differing(copied_, run_in(as_copy, pipeline_, {.write = line}));
  Lines lines;
  std::ranges::set_symmetric_difference(aliases, copies, std::inserter(lines, lines.end()));
  return lines;
}

}  // namespace examples::reshape_audit
