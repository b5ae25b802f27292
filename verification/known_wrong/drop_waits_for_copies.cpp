// SPDX-License-Identifier: BSL-1.0
#include "../scenarios/drops_end_first.hpp"

namespace byre::verification {

enum class DropSite : std::uint8_t { begin_copy, end_copy, load_copies, park, unpark };

inline constexpr sync::SiteTable<DropSite, 5> drop_sites{{{
    {"drop_waits.begin_copy", sync::Operation::fetch_add, std::memory_order::relaxed},
    {"drop_waits.end_copy", sync::Operation::fetch_sub, std::memory_order::relaxed},
    {"drop_waits.load_copies", sync::Operation::load, std::memory_order::relaxed},
    {"drop_waits.park", sync::Operation::park, std::memory_order::seq_cst},
    {"drop_waits.unpark", sync::Operation::unpark, std::memory_order::seq_cst},
}}};

/// Wrong: a drop waits until nobody copies, as that of the last lazy clone did in the published form of
/// 2023.
class DropWaitsForCopies : public basic_share_word<Checked> {
 public:
  Claim claim(Wait wait = Wait::allowed) {
    const Claim claimed = basic_share_word::claim(wait);
    if (claimed == Claim::copy) {
      copies_.fetch_add(1, drop_sites.at(At::begin_copy, relaxed));
    }
    return claimed;
  }
  bool drop_owner() {
    while (are_pending()) {
      Checked::park(
          &drop_sites, [this] { return are_pending(); }, drop_sites.at(At::park));
    }
    return basic_share_word::drop_owner();
  }
  bool finish_copy() {
    copies_.fetch_sub(1, drop_sites.at(At::end_copy, relaxed));
    Checked::unpark_all(&drop_sites, drop_sites.at(At::unpark));
    return basic_share_word::finish_copy();
  }

 private:
  using At = DropSite;
  static constexpr auto relaxed = std::memory_order::relaxed;

  bool are_pending() const { return copies_.load(drop_sites.at(At::load_copies, relaxed)) != 0; }

  Checked::Atomic<std::uint32_t> copies_{0};
};

const Scenario drop_waits_for_copies = scenario<DropsEndFirst<DropWaitsForCopies>>({
    .name = "known_wrong.drop_waits_for_copies",
    .shows = "A drop that waits for copies ends no sooner than they do: promise 4.",
    .expected = Verdict::deadlock,
});

}  // namespace byre::verification
