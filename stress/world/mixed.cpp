// SPDX-License-Identifier: BSL-1.0
#include "mixed.hpp"

#include <byre/cow/share_lock.hpp>
#include <byre/cow/share_word.hpp>

#include "run.hpp"

namespace byre::stress {

Outcome run_mixed(const Settings& settings, Watch& watch) {
  switch (settings.protocol) {
    case Protocol::word:
      return Run<sync::Boost, basic_share_word>(settings, watch).complete();
    case Protocol::lock:
      return Run<sync::Boost, basic_share_lock>(settings, watch).complete();
  }
  return {};
}

}  // namespace byre::stress
