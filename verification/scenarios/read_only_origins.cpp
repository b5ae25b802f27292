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
    constexpr std::uint64_t read_only_bit = std::uint64_t{1} << 63;
    if (site.name == "share_word.is_writable" && value == (read_only_bit | 1)) {
      cover("the writer is the last owner, and copies all the same");
    } else if (site.name == "share_word.drop_owner" && value == (read_only_bit | 1)) {
      cover("the writer leaves its share to another owner");
    }
    expect(!site.name.starts_with("share_word.claim"), "read-only data is never claimed");
  }
};

}  // namespace

const Scenario read_only_origins = scenario<ReadOnlyOriginsOfWord>({
    .name = "read_only_origins",
    .shows = "A mapped file is shared like any data, never written, and unmapped after all reads: "
             "promise 1.",
});

const Scenario three_read_only_origins = scenario<ReadOnlyOrigins<basic_share_word, 3>>({
    .name = "three_read_only_origins",
    .shows = "The same of three owners.",
    .quick = preemptions(2),
});

const Scenario locked_read_only_origins = scenario<ReadOnlyOrigins<basic_share_lock, 2>>({
    .name = "locked_read_only_origins",
    .shows = "The same of the textbook form.",
});

}  // namespace byre::verification
