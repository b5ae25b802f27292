// SPDX-License-Identifier: BSL-1.0
#include <byre/pages/detail/exported.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

namespace byre::inline BYRE_ABI::detail {
namespace {

struct Exports {
  sync::ProcessMutex mutex;
  IntrusiveList<ExportedData> all;
};

Exports& exports() noexcept {
  return sync::no_destructor<Exports>();
}

}  // namespace

void list_export(ExportedData& data) noexcept {
  Exports& list = exports();
  const sync::ProcessLock lock(list.mutex);
  if (!data.is_listed()) {
    list.all.push_back(data);
  }
}

void unlist_export(ExportedData& data) noexcept {
  Exports& list = exports();
  const sync::ProcessLock lock(list.mutex);
  if (data.is_listed()) {
    list.all.remove(data);
  }
}

Views look_at_exports(std::size_t most, bool waits) noexcept {
  Exports& list = exports();
  ExportedData* taken = nullptr;
  {
    const sync::ProcessLock lock(list.mutex);
    const ExportedData* first_moved = nullptr;
    for (; most != 0 && !list.all.is_empty() && &list.all.front() != first_moved; --most) {
      ExportedData& data = list.all.front();
      list.all.remove(data);
      list.all.push_back(data);
      first_moved = first_moved == nullptr ? &data : first_moved;
      if (data.take()) {
        data.next_taken = taken;
        taken = &data;
      }
    }
  }
  Views views;
  while (taken != nullptr) {
    ExportedData& data = *taken;
    taken = data.next_taken;
    if (waits) {
      data.wait_for_other_processes();
    }
    ++(data.look() ? views.ended : views.remaining);
  }
  return views;
}

}  // namespace byre::inline BYRE_ABI::detail
