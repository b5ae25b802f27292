// SPDX-License-Identifier: BSL-1.0
#include <byre/observe/detail/ledger.hpp>
#include <byre/pages/detail/overlay_list.hpp>
#include <byre/pages/detail/page_file.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

namespace byre::inline BYRE_ABI::detail {
namespace {

using stats::detail::WrittenOverlay;

std::vector<WrittenOverlay> written_overlays();

struct OverlayList {
  OverlayList() noexcept { stats::detail::ledger::set_source_of_overlays(&written_overlays); }

  sync::ProcessMutex mutex;
  IntrusiveList<ListedOverlay> overlays;
  std::size_t count = 0;
};

OverlayList& the_list() noexcept {
  return sync::no_destructor<OverlayList>();
}

/// Counts the pages without the lock, because that takes long. An overlay may be unmapped
/// meanwhile; its memory is not read.
std::vector<WrittenOverlay> written_overlays() {
  OverlayList& all = the_list();
  std::vector<WrittenOverlay> overlays;
  for (std::size_t count = 0;;) {
    overlays.reserve(count);
    const sync::ProcessLock lock(all.mutex);
    count = all.count;
    if (count <= overlays.capacity()) {
      for (const ListedOverlay& each : all.overlays) {
        overlays.push_back({each.data, each.nbytes});
      }
      break;
    }
  }
  for (WrittenOverlay& overlay : overlays) {
    overlay.nbytes = count_written_pages(overlay.data, overlay.nbytes);
  }
  return overlays;
}

}  // namespace

void list_overlay(ListedOverlay& overlay) noexcept {
  OverlayList& all = the_list();
  const sync::ProcessLock lock(all.mutex);
  all.overlays.push_back(overlay);
  ++all.count;
}

void unlist_overlay(ListedOverlay& overlay) noexcept {
  OverlayList& all = the_list();
  const sync::ProcessLock lock(all.mutex);
  if (overlay.is_listed()) {
    all.overlays.remove(overlay);
    --all.count;
  }
}

}  // namespace byre::inline BYRE_ABI::detail
