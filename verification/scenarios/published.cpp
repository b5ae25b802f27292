// SPDX-License-Identifier: BSL-1.0
/// One thread publishes two objects, as registrations of kernels, operators and backends do, while
/// another thread looks them up without a lock. If the reader finds the second object, it has to
/// find the first object, too, and both have to be complete. If the store of set() is not a
/// release, or the load of get() is not an acquire, the reader races their initialization.
#include <byre/sync/detail/published.hpp>

#include "../search.hpp"

namespace byre::verification {
namespace {

/// One thread publishes two parts, e.g. definitions of operators, while another thread looks up
/// both. A part may refer to earlier parts, so a thread that finds the second part must find the
/// first.
class PartsAreFoundBesideDefinitions : public TwoThreads {
 public:
  static constexpr std::string_view cover_points[] = {"no part is found", "the first is found",
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
    expect(second == nullptr || second == &second_, "a part that is found was published");
    expect(first == nullptr || first == &first_, "a part that is found was published");
    expect(second == nullptr || first != nullptr, "a thread that finds a part finds earlier ones");
    expect(first == nullptr || first->value.get() == 1, "a part that is found is complete");
    expect(second == nullptr || second->value.get() == 2, "a part that is found is complete");
    cover(second != nullptr  ? "both are found"
          : first != nullptr ? "the first is found"
                             : "no part is found");
  }

  void after() {
    expect(first_place_.get() == &first_ && second_place_.get() == &second_,
           "published parts are found afterwards");
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
    scenario<PartsAreFoundBesideDefinitions>("parts_are_found_beside_definitions",
                                             "A thread that finds a part during its registration "
                                             "finds it complete, and finds all earlier parts."),
};

}  // namespace
}  // namespace byre::verification
