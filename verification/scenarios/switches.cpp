// SPDX-License-Identifier: BSL-1.0
/// What is turned on and off for all threads.
#include <byre/shadow/switch.hpp>

#include "../search.hpp"

namespace byre::verification {
namespace {

/// One thread turns the switch on and off, another looks.
class SwitchesAreSetBesideLooks {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {
      "a look before anybody came", "a look while it is on", "a look when it is off again"};

  void thread(unsigned index) {
    if (index == 0) {
      switch_.set(true);
      expect(switch_.get() == true, "who turns it on has it on");
      switch_.set(false);
      expect(switch_.get() == false, "who turns it off has it off");
      return;
    }
    const auto first = switch_.get();
    const auto second = switch_.get();
    expect(!first || second, "that somebody set it stays known");
    expect(first != false || second == false, "a later look sees what is later");
    cover(!first   ? "a look before anybody came"
          : *first ? "a look while it is on"
                   : "a look when it is off again");
  }

  void after() { expect(switch_.get() == false, "it stays as it was set last"); }

 private:
  shadow::basic_switch<Checked> switch_;
};

}  // namespace

extern const Scenario switches_are_set_beside_looks;
const Scenario switches_are_set_beside_looks = scenario<SwitchesAreSetBesideLooks>({
    .name = "switches_are_set_beside_looks",
    .shows = "A switch is as it was set last, or before.",
});

}  // namespace byre::verification
