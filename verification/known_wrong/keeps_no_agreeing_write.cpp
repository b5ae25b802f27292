// SPDX-License-Identifier: BSL-1.0
/// Writes to a storage as they are, but for a step: one that agrees replaces what it knows, and
/// nobody notes that.
// A new that answers null is Relacy's too, a call further than g++ sees.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

#include "../scenarios/overwritten.hpp"

namespace byre::verification {
namespace {

/// In the place of basic_storage_writes.
template <sync::Sync Sync>
struct basic_forgetful_writes : shadow::basic_storage_writes<Sync> {
  using typename shadow::basic_storage_writes<Sync>::Family;

  std::optional<WriteMark> write(Family& family, PlaceId place) noexcept {
    return family.write(this->generation, place);
  }
};

}  // namespace

extern const Scenario keeps_no_agreeing_write;
const Scenario keeps_no_agreeing_write = scenario<AgreeingWritesAreFound<basic_forgetful_writes>>({
    .name = "known_wrong.keeps_no_agreeing_write",
    .shows = "Where what an agreeing write replaces is not noted, who is told of the last write "
             "finds no other: G6.",
    .expected = Verdict::wrong_answer,
});

}  // namespace byre::verification
