// SPDX-License-Identifier: BSL-1.0
#include "read_only_origins.hpp"

namespace byre::verification {
namespace {

class ReadOnlyOriginsOfWord : public ReadOnlyOrigins<basic_share_word, 2> {
 public:
  static constexpr std::string_view cover_points[] = {
      "the writer is the last owner, and copies all the same",
      "the writer leaves its share to another owner",
  };

  void saw(const sync::Site& site, std::uint64_t value) {
    constexpr std::uint64_t frozen = std::uint64_t{1} << 63;
    if (site.name == "share_word.is_writable" && value == (frozen | 1)) {
      cover("the writer is the last owner, and copies all the same");
    } else if (site.name == "share_word.drop_owner" && value == (frozen | 1)) {
      cover("the writer leaves its share to another owner");
    }
    expect(!site.name.starts_with("share_word.claim"), "data that is frozen is never claimed");
  }
};

}  // namespace

extern const Scenario read_only_origins;
const Scenario read_only_origins = scenario<ReadOnlyOriginsOfWord>({
    .name = "read_only_origins",
    .shows = "A mapped file is shared like any data, never written, and unmapped after all reads: "
             "promise 1.",
});

extern const Scenario three_read_only_origins;
const Scenario three_read_only_origins = scenario<ReadOnlyOrigins<basic_share_word, 3>>({
    .name = "three_read_only_origins",
    .shows = "The same of three owners.",
    .quick = switches(2),
});

extern const Scenario locked_read_only_origins;
const Scenario locked_read_only_origins = scenario<ReadOnlyOrigins<basic_share_lock, 2>>({
    .name = "locked_read_only_origins",
    .shows = "The same of the textbook form.",
});

}  // namespace byre::verification
