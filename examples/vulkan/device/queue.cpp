// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/queue.hpp"

#include <algorithm>
#include <byre/error/error.hpp>
#include <cstring>
#include <vector>

#include "vulkan/device/memory.hpp"

namespace examples::vulkan {
namespace {

std::size_t whole_words(std::size_t nbytes) noexcept {
  return std::max<std::size_t>((nbytes + 3) / 4 * 4, 4);
}

void expect_size(const Use& use, const VkPhysicalDeviceLimits& limits) {
  if (whole_words(use.nbytes) > limits.maxStorageBufferRange) {
    throw VulkanError(
        byre::format_text("a shader was to be given %zu bytes of one tensor; the device has at "
                          "most %u (maxStorageBufferRange). Use "
                          "several smaller tensors.",
                          use.nbytes, limits.maxStorageBufferRange));
  }
  if (reinterpret_cast<std::uintptr_t>(use.address) % limits.minStorageBufferOffsetAlignment != 0) {
    throw byre::InvalidArgument(byre::format_text(
        "a shader was to be given memory from %p; it has to begin at a multiple of %llu "
        "(minStorageBufferOffsetAlignment). Give it the whole tensor, and the offset as a "
        "parameter.",
        use.address, static_cast<unsigned long long>(limits.minStorageBufferOffsetAlignment)));
  }
}

void expect_arguments(const Pipeline& pipeline, std::size_t uses, std::size_t nbytes,
                      const std::array<std::uint32_t, 3>& groups,
                      const VkPhysicalDeviceLimits& limits) {
  if (uses != pipeline.buffers() || nbytes == 0 || nbytes > Commands::most_put) {
    throw byre::InvalidArgument(
        byre::format_text("a dispatch has %zu buffers and %zu bytes of parameters; its pipeline "
                          "takes %u and from 1 to %zu.",
                          uses, nbytes, pipeline.buffers(), Commands::most_put));
  }
  for (std::size_t i = 0; i != 3; ++i) {
    if (groups[i] > limits.maxComputeWorkGroupCount[i]) {
      throw byre::InvalidArgument(byre::format_text(
          "a dispatch of %u x %u x %u work groups; the device has at most %u x %u x %u "
          "(maxComputeWorkGroupCount).",
          groups[0], groups[1], groups[2], limits.maxComputeWorkGroupCount[0],
          limits.maxComputeWorkGroupCount[1], limits.maxComputeWorkGroupCount[2]));
    }
  }
}

}  // namespace

Queue::Place Queue::find(const void* address, std::size_t nbytes) {
  DeviceBlock& block = memory_.find(address, nbytes);
  return {&block, block.offset + (reinterpret_cast<std::uintptr_t>(address) - block.address())};
}

void Queue::dispatch(const Pipeline& pipeline, std::span<const Use> uses,
                     std::span<const std::byte> parameters,
                     const std::array<std::uint32_t, 3>& groups) {
  expect_arguments(pipeline, uses.size(), parameters.size(), groups, driver_.limits());
  if (std::ranges::count(groups, 0U) != 0) {
    return;
  }
  std::vector<Access> accesses;
  std::vector<VkDescriptorBufferInfo> buffers;
  for (const Use& use : uses) {
    expect_size(use, driver_.limits());
    const Place place = find(use.address, use.nbytes);
    accesses.push_back({place.block, use.kind});
    buffers.push_back(place.buffer(whole_words(use.nbytes)));
  }
  buffers.emplace_back();

  Lock lock(mutex_);
  expect_device();
  Commands& commands = open(lock);
  buffers.back() = commands.put(parameters);
  const VkDescriptorSet set = commands.make_set(pipeline.set_layout_, buffers);
  // From here on nothing fails.
  order(lock, commands, accesses);
  vkCmdBindPipeline(commands.buffer(), VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.pipeline_);
  vkCmdBindDescriptorSets(commands.buffer(), VK_PIPELINE_BIND_POINT_COMPUTE,
                          pipeline.pipeline_layout_, 0, 1, &set, 0, nullptr);
  vkCmdDispatch(commands.buffer(), groups[0], groups[1], groups[2]);
  pipeline.last_use_.store(next_value_, std::memory_order_relaxed);
  ++stats_.dispatches;
  count_command(lock);
}

void Queue::copy(void* to, const void* from, std::size_t nbytes) {
  if (nbytes == 0) {
    return;
  }
  const Place place_to = find(to, nbytes);
  const Place place_from = find(from, nbytes);
  Lock lock(mutex_);
  record_copy(lock, place_to, place_from, nbytes);
  count_command(lock);
}

void Queue::copy_for_writer(void* to, const void* from, std::size_t nbytes,
                            byre::PendingCopy& pending) {
  if (nbytes == 0) {
    return;
  }
  const Place place_to = find(to, nbytes);
  const Place place_from = find(from, nbytes);
  std::list<Pending> made(1);
  Lock lock(mutex_);
  record_copy(lock, place_to, place_from, nbytes);
  ++open_.front().recorded;
  made.front().value = submit_recorded(lock);
  made.front().copy = std::move(pending);
  pending_.splice(pending_.end(), made);
  retire(lock);
}

void Queue::upload(void* to, const void* from_host, std::size_t nbytes) {
  if (nbytes == 0) {
    return;
  }
  const Place place = find(to, nbytes);
  if (!write_mapped(place, from_host, nbytes)) {
    stage(place, {static_cast<const std::byte*>(from_host), nbytes});
  }
  const Lock lock(mutex_);
  ++stats_.uploads;
}

/// If the host addresses the block, and the device is done with it.
bool Queue::write_mapped(const Place& to, const void* from_host, std::size_t nbytes) {
  std::byte* const mapped = to.block->chunk->mapped;
  if (mapped == nullptr) {
    return false;
  }
  poll();
  {
    const Lock lock(mutex_);
    expect_device();
    if (!has_passed(to.block->last_use)) {
      return false;
    }
  }
  std::memcpy(mapped + to.offset, from_host, nbytes);
  return true;
}

/// By memory of the host's that the commands keep.
void Queue::stage(const Place& to, std::span<const std::byte> bytes) {
  std::shared_ptr<Chunk> staging;
  if (bytes.size() > Commands::most_put) {
    staging = memory_.obtain(bytes.size(), Chunk::of_host);
    std::memcpy(staging->mapped, bytes.data(), bytes.size());
  }
  Lock lock(mutex_);
  expect_device();
  Commands& commands = open(lock);
  VkDescriptorBufferInfo from{};
  if (staging == nullptr) {
    from = commands.put(bytes);
  } else {
    from.buffer = staging->buffer;
    commands.keep(std::move(staging));
  }
  order(lock, commands, std::array{Access{to.block, Use::write}});
  const VkBufferCopy region{from.offset, to.offset, bytes.size()};
  vkCmdCopyBuffer(commands.buffer(), from.buffer, to.block->chunk->buffer, 1, &region);
  count_command(lock);
}

void Queue::download(void* to_host, const void* from, std::size_t nbytes) {
  if (nbytes == 0) {
    return;
  }
  const Place place = find(from, nbytes);
  const std::byte* bytes = place.block->chunk->mapped;
  std::shared_ptr<Chunk> staging;
  if (bytes == nullptr) {
    staging = memory_.obtain(nbytes, Chunk::of_host);
    bytes = staging->mapped;
  } else {
    bytes += place.offset;
  }
  Lock lock(mutex_);
  expect_device();
  std::uint64_t written = place.block->last_write;
  if (staging != nullptr) {
    Commands& commands = open(lock);
    commands.keep(staging);
    order(lock, commands, std::array{Access{place.block, Use::read}});
    const VkBufferCopy region{place.offset, 0, nbytes};
    vkCmdCopyBuffer(commands.buffer(), place.block->chunk->buffer, staging->buffer, 1, &region);
    ++commands.recorded;
    written = next_value_;
  }
  if (!submitted_.empty() ? submitted_.back().value < written : !has_passed(written)) {
    submit_recorded(lock);
  }
  ++stats_.downloads;
  lock.unlock();
  wait_for_passing(written);
  std::memcpy(to_host, bytes, nbytes);
}

QueueStats Queue::stats() const {
  const Lock lock(mutex_);
  QueueStats stats = stats_;
  for (const std::list<Commands>* const commands : {&open_, &closed_, &submitted_, &free_}) {
    for (const Commands& each : *commands) {
      stats.allocations += 1 + each.allocations();
    }
  }
  return stats;
}

}  // namespace examples::vulkan
