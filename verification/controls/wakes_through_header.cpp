// SPDX-License-Identifier: BSL-1.0
#include "../scenarios/claims_steal_once.hpp"

namespace byre::verification {
enum class WaiterSite : std::uint8_t { look };

inline constexpr sync::SiteTable<WaiterSite, 1> waiter_sites{{{
    {"wakes_through_header.look", sync::Operation::load, std::memory_order::relaxed, "", ""},
}}};

/// Wrong: the list of waiters is beside the word, in the header, so that who wakes looks into what
/// the waiter may have freed by then.
struct ListInHeader : Checked {
  static void unpark_all(const void* address, sync::Step step) noexcept {
    const auto& header = *static_cast<const Atomic<std::uint64_t>*>(address);
    header.load(waiter_sites.at(WaiterSite::look, std::memory_order::relaxed));
    Checked::unpark_all(address, step);
  }
};

/// The word, over it.
template <class>
class WakesThroughHeader : public basic_share_word<ListInHeader> {
  using basic_share_word::basic_share_word;
};

extern const Scenario wakes_through_header;
const Scenario wakes_through_header = scenario<ClaimsStealOnce<WakesThroughHeader, 2>>({
    .name = "control.wakes_through_header",
    .shows = "A waker that goes through the header touches what the waiter has freed: I2.",
    .expected = Verdict::use_after_free,
});

}  // namespace byre::verification
