// SPDX-License-Identifier: BSL-1.0
/// The process's default mode of reshape.
#include <byre/shadow/default_mode.hpp>
#include <byre/shadow/mode.hpp>

#include "../search.hpp"

namespace byre::verification {
namespace {

using shadow::ReshapeMode;

/// One thread sets the mode, another reshapes.
class ModesAreSetBesideReshapes {
 public:
  static constexpr unsigned threads = 2;
  static constexpr std::string_view cover_points[] = {
      "a reshape before any mode", "a reshape of the first mode", "a reshape of the last mode"};

  void thread(unsigned index) {
    if (index == 0) {
      mode_.set(ReshapeMode::warn);
      mode_.set(ReshapeMode::alias);
      expect(mode_.get() == ReshapeMode::alias, "who sets a mode has it in force");
      return;
    }
    const auto first = mode_.get();
    const auto second = mode_.get();
    expect(is_one_of_the_modes(first) && is_one_of_the_modes(second),
           "the mode in force is one that was set, or none");
    expect(first != ReshapeMode::alias || second == ReshapeMode::alias,
           "a later reshape has a later mode");
    cover(!first                       ? "a reshape before any mode"
          : first == ReshapeMode::warn ? "a reshape of the first mode"
                                       : "a reshape of the last mode");
  }

  void after() {
    mode_.set(std::nullopt);
    expect(!mode_.get(), "a mode can be taken back");
  }

 private:
  static bool is_one_of_the_modes(std::optional<ReshapeMode> mode) {
    return !mode || mode == ReshapeMode::warn || mode == ReshapeMode::alias;
  }

  shadow::basic_default_mode<Checked> mode_;
};

}  // namespace

extern const Scenario modes_are_set_beside_reshapes;
const Scenario modes_are_set_beside_reshapes = scenario<ModesAreSetBesideReshapes>({
    .name = "modes_are_set_beside_reshapes",
    .shows = "A reshape has the mode that was set last, or the one before.",
});

}  // namespace byre::verification
