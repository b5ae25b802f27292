// SPDX-License-Identifier: BSL-1.0
/// What is published: kernels, operators and backends, found by calls beside their registration.
#include <byre/sync/detail/published.hpp>

#include "../search.hpp"

namespace byre::verification {
namespace {

/// One thread defines two parts, the second of which names the first, while another looks for both.
class PartsAreFoundBesideDefinitions : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {"nothing is found", "the first is found",
                                                      "both are found"};

  void thread(unsigned index) {
    if (index == 0) {
      first_.value.set(1);
      first_place_.set(&first_);
      second_.value.set(2);
      second_place_.set(&second_);
      return;
    }
    const Part* const second = second_place_.get();
    const Part* const first = first_place_.get();
    expect(second == nullptr || second == &second_, "what is found is what was published");
    expect(first == nullptr || first == &first_, "what is found is what was published");
    expect(second == nullptr || first != nullptr, "who finds a part finds those before it");
    expect(first == nullptr || first->value.get() == 1, "what is found is whole");
    expect(second == nullptr || second->value.get() == 2, "what is found is whole");
    cover(second != nullptr  ? "both are found"
          : first != nullptr ? "the first is found"
                             : "nothing is found");
  }

  void after() {
    expect(first_place_.get() == &first_ && second_place_.get() == &second_,
           "what was published is found");
  }

 private:
  struct Part {
    Checked::Plain<unsigned> value{0};
  };

  Part first_;
  Part second_;
  sync::detail::basic_published<Checked, const Part> first_place_;
  sync::detail::basic_published<Checked, const Part> second_place_;
};

const Scenario* const published_scenarios[] = {
    scenario<PartsAreFoundBesideDefinitions>(
        "parts_are_found_beside_definitions",
        "Who finds a part that is registered meanwhile finds it whole, and those before it."),
};

}  // namespace
}  // namespace byre::verification
