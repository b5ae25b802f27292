// SPDX-License-Identifier: BSL-1.0
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>
#include <byre/tensor/devices.hpp>

#include <cstring>
#include <map>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI {
namespace {

class Host final : public DeviceSupport {
 public:
  Allocator& allocator() noexcept override { return default_allocator(); }
  void copy_to_host(void* destination, const void* source, std::size_t nbytes) override {
    std::memcpy(destination, source, nbytes);
  }
  void copy_from_host(void* destination, const void* source, std::size_t nbytes) override {
    std::memcpy(destination, source, nbytes);
  }
  const char* name() const noexcept override { return "cpu"; }
};

class Registry {
 public:
  /// Returns false if the device is registered already.
  bool add(Device device, DeviceSupport& support) {
    Known made{{key(device), &support}};
    const sync::ProcessLock lock(mutex_);
    known_.merge(made);
    return made.empty();
  }

  DeviceSupport* find(Device device) {
    const sync::ProcessLock lock(mutex_);
    const auto found = known_.find(key(device));
    return found == known_.end() ? nullptr : found->second;
  }

 private:
  using Known = std::map<std::pair<std::uint16_t, std::uint16_t>, DeviceSupport*>;

  static Known::key_type key(Device device) noexcept { return {device.kind(), device.index()}; }

  sync::ProcessMutex mutex_;
  Known known_;
};

Registry& registry() {
  return sync::no_destructor<Registry>();
}

}  // namespace

void register_device(Device device, DeviceSupport& support) try {
  if (support.allocator().device() != device) {
    throw DeviceError(format_text(
        "cannot register device %u:%u: its allocator, the %s, allocates on device %u:%u. Pass the "
        "device to the constructor of the allocator.",
        unsigned{device.kind()}, unsigned{device.index()}, support.allocator().name(),
        unsigned{support.allocator().device().kind()},
        unsigned{support.allocator().device().index()}));
  }
  if (device.is_cpu() || !registry().add(device, support)) {
    throw DeviceError(format_text(
        "cannot register device %u:%u: it is registered already. Choose another kind or "
        "index; kind 0 is the host.",
        unsigned{device.kind()}, unsigned{device.index()}));
  }
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("register_device");
}

DeviceSupport& support_of(Device device) {
  if (device.is_cpu()) {
    return sync::no_destructor<Host>();
  }
  if (DeviceSupport* const support = registry().find(device)) {
    return *support;
  }
  throw DeviceError(
      format_text("device %u:%u is not registered. Call register_device() before the first "
                  "tensor on it.",
                  unsigned{device.kind()}, unsigned{device.index()}));
}

Text describe(Device device) noexcept {
  if (device.is_cpu()) {
    return format_text("cpu");
  }
  DeviceSupport* const support = registry().find(device);
  return format_text("device %u:%u (%s)", unsigned{device.kind()}, unsigned{device.index()},
                     support == nullptr ? "not registered" : support->name());
}

}  // namespace byre::inline BYRE_ABI
