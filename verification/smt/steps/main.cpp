// SPDX-License-Identifier: BSL-1.0
#include <string_view>

#include "steps.hpp"

int main(int argc, char** argv) {
  using namespace byre::verification;
  // With --drop-waits it has to fail.
  const bool drop_waits = argc == 2 && std::string_view(argv[1]) == "--drop-waits";
  const unsigned unreached =
      print_share_word_steps(drop_waits) + print_ref_count_steps() + print_bucket_steps();
  return unreached == 0 ? 0 : 1;
}
