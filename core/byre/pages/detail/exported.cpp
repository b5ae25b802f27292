// SPDX-License-Identifier: BSL-1.0
#include <byre/memory/budget_exceeded.hpp>
#include <byre/pages/detail/exported.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <algorithm>
#include <limits>

namespace byre::inline BYRE_ABI::detail {
namespace {

struct Exports {
  Exports() noexcept { set_unused_data(unused); }

  static constexpr UnusedData unused{[]() noexcept {
    return look_at_exports(std::numeric_limits<std::size_t>::max(), false).ended != 0;
  }};

  sync::ProcessMutex mutex;
  IntrusiveList<ExportedData> all;
  std::size_t count = 0;

  /// Moves the first data to the end, and takes its right. Returns null if it has none. The data
  /// exists as long as the caller has the right.
  ExportedData* take_next() noexcept {
    const sync::ProcessLock lock(mutex);
    if (all.is_empty()) {
      return nullptr;
    }
    ExportedData& data = all.front();
    all.remove(data);
    all.push_back(data);
    return data.take() ? &data : nullptr;
  }
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
    ++list.count;
  }
}

void unlist_export(ExportedData& data) noexcept {
  Exports& list = exports();
  const sync::ProcessLock lock(list.mutex);
  if (data.is_listed()) {
    list.all.remove(data);
    --list.count;
  }
}

Views look_at_exports(std::size_t most, bool waits) noexcept {
  Exports& list = exports();
  const auto count = [&list] {
    const sync::ProcessLock lock(list.mutex);
    return list.count;
  };
  Views views;
  for (std::size_t left = std::min(most, count()); left != 0; --left) {
    if (ExportedData* const data = list.take_next()) {
      if (waits) {
        data->wait_for_other_processes();
      }
      ++(data->look() ? views.ended : views.remaining);
    }
  }
  return views;
}

}  // namespace byre::inline BYRE_ABI::detail
