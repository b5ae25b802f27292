// SPDX-License-Identifier: BSL-1.0
#include "invariant_audit.hpp"

#include <byre/memory/pool.hpp>

#include <algorithm>

#include "support/temporary_folder.hpp"

namespace byre::stress {

void check_pool(std::size_t idle_nbytes, std::size_t limit_nbytes, Failures& failures) {
  if (idle_nbytes > limit_nbytes) {
    failures.add("a pool keeps " + std::to_string(idle_nbytes) + " bytes, beyond its limit of " +
                 std::to_string(limit_nbytes));
  }
}

void InvariantAudit::check(std::uint64_t adopted) {
  std::uint64_t blocks = 0;
  std::uint64_t adopted_now = 0;
  std::uint64_t mapped = 0;
  std::uint64_t overlays = 0;
  for (const auto& [data, owned] : data_) {
    if (owned.origin == Origin::mapped) {  // whose overlays are owners too
      expect_equal("owners of a mapped file, at least", std::min(owned.use_count, owned.owners),
                   owned.owners);
    } else {
      expect_equal("owners of some data", owned.use_count, owned.owners);
    }
    const bool is_adopted = owned.origin == Origin::adopted;
    adopted_now += is_adopted ? 1 : 0;
    mapped += owned.origin == Origin::mapped ? 1 : 0;
    overlays += owned.origin == Origin::overlay ? 1 : 0;
    const bool is_ours = owned.origin == Origin::allocated && owned.allocator == &run_.allocator;
    blocks += is_adopted || is_ours ? 1 : 0;
  }
  expect_equal("live blocks", run_.tracking.live_blocks(), blocks);
  expect_equal("deleters called", run_.deleter_calls.load(), adopted - adopted_now);
  if (const auto mappings = test::mappings_of(run_.files.folder()); mappings >= 0) {
    // An overlay of a file is a mapping, and may keep another one that nobody owns.
    const auto found = static_cast<std::uint64_t>(mappings);
    expect_equal("mappings of files", found, std::clamp(found, mapped, mapped + 2 * overlays));
  }
  for (const RecyclingPool* pool : {run_.pool.get(), &default_pool()}) {
    check_pool(pool->idle_nbytes(), pool->limit_nbytes(), run_.failures);
  }
}

void InvariantAudit::check_value(bool is_unique, std::uint32_t use_count, Origin origin,
                                 const std::byte* data, std::size_t nbytes, Content expected) {
  const bool may_have_overlays = is_in_pages(origin);
  if (is_unique != (use_count == 1) && (is_unique || !may_have_overlays)) {
    run_.failures.add("some data is unique though it has other owners, or the reverse");
  }
  if (const auto fault = fault_in(data, nbytes, expected)) {
    run_.failures.add("with all threads held, a storage is " + *fault);
  }
}

void InvariantAudit::expect_equal(const char* what, std::uint64_t found, std::uint64_t expected) {
  if (found != expected) {
    run_.failures.add(std::string(what) + ": " + std::to_string(found) + ", and have to be " +
                      std::to_string(expected));
  }
}

}  // namespace byre::stress
