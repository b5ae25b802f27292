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
    throw VulkanError(byre::format_text(
        "cannot bind %zu bytes of one tensor to a shader: the device allows at most %u "
        "(maxStorageBufferRange). Use several smaller tensors.",
        use.nbytes, limits.maxStorageBufferRange));
  }
  if (reinterpret_cast<std::uintptr_t>(use.address) % limits.minStorageBufferOffsetAlignment != 0) {
    throw byre::InvalidArgument(byre::format_text(
        "cannot bind memory at %p to a shader: its address must be a multiple of %llu "
        "(minStorageBufferOffsetAlignment). Bind the entire tensor, and pass the offset as a "
        "parameter.",
        use.address, static_cast<unsigned long long>(limits.minStorageBufferOffsetAlignment)));
  }
}

}  // namespace

Queue::Access Queue::find(const void* address, std::size_t nbytes, Use::Kind kind) {
  DeviceBlock& block = memory_.find(address, nbytes);
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(address) - block.address();
  return {kind, {(*block.chunk)->buffer, block.offset + offset, nbytes}, &block};
}

void Queue::dispatch(const Shader& shader, std::span<const Use> uses,
                     std::span<const std::byte> parameters,
                     const std::array<std::uint32_t, 3>& groups) {
  if (uses.size() >= Pipelines::most_buffers || parameters.empty() ||
      parameters.size() > Commands::most_put) {
    throw byre::InvalidArgument(byre::format_text(
        "cannot dispatch %zu buffers and %zu bytes of parameters: allowed are fewer than %u "
        "buffers and 1 to %zu bytes.",
        uses.size(), parameters.size(), Pipelines::most_buffers, Commands::most_put));
  }
  std::vector<Access> accesses;
  std::vector<VkDescriptorBufferInfo> buffers;
  for (const Use& use : uses) {
    expect_size(use, driver_.limits);
    accesses.push_back(find(use.address, use.nbytes, use.kind));
    buffers.push_back(accesses.back().bytes);
    buffers.back().range = whole_words(use.nbytes);
  }
  buffers.emplace_back();
  VkPipeline const pipeline = pipelines_.get(shader);

  Lock lock(mutex_);
  Commands& commands = open(lock);
  buffers.back() = commands.put(parameters);
  const VkDescriptorSet set = commands.make_set(pipelines_.set_layout(), buffers);
  // No step from here on can fail.
  order(commands, accesses);
  vkCmdBindPipeline(commands.buffer(), VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  vkCmdBindDescriptorSets(commands.buffer(), VK_PIPELINE_BIND_POINT_COMPUTE, pipelines_.layout(), 0,
                          1, &set, 0, nullptr);
  vkCmdDispatch(commands.buffer(), groups[0], groups[1], groups[2]);
  ++stats_.dispatches;
  submit_if_full(lock);
}

void Queue::record_copy(Commands& commands, const Access& from, const Access& to) {
  order(commands, std::array{from, to});
  const VkBufferCopy region{from.bytes.offset, to.bytes.offset, to.bytes.range};
  vkCmdCopyBuffer(commands.buffer(), from.bytes.buffer, to.bytes.buffer, 1, &region);
  if (from.block == nullptr || to.block == nullptr) {
    ++(from.block == nullptr ? stats_.uploads : stats_.downloads);
  } else {
    ++stats_.copies;
    stats_.bytes_copied += to.bytes.range;
  }
}

void Queue::copy(void* to, const void* from, std::size_t nbytes, byre::PendingCopy* pending) {
  if (nbytes == 0) {
    return;
  }
  const Access target = find(to, nbytes, Use::write);
  const Access source = find(from, nbytes, Use::read);
  std::list<Pending> made(pending == nullptr ? 0 : 1);
  Lock lock(mutex_);
  record_copy(open(lock), source, target);
  if (pending == nullptr) {
    submit_if_full(lock);
    return;
  }
  made.front().value = submit_recorded(lock);
  made.front().copy = std::move(*pending);
  pending_.splice(pending_.end(), made);
  retire(lock);
}

void Queue::upload(void* to, const void* from_host, std::size_t nbytes) {
  if (nbytes == 0) {
    return;
  }
  const Access target = find(to, nbytes, Use::write);
  std::shared_ptr<Chunk> staging;
  if (nbytes > Commands::most_put) {
    staging = memory_.obtain(nbytes, Chunk::of_host);
    std::memcpy(staging->mapped, from_host, nbytes);
  }
  Lock lock(mutex_);
  Commands& commands = open(lock);
  Access source{Use::read, {}};
  if (staging == nullptr) {
    source.bytes = commands.put({static_cast<const std::byte*>(from_host), nbytes});
  } else {
    source.bytes = {staging->buffer, 0, nbytes};
    commands.keep(std::move(staging));
  }
  record_copy(commands, source, target);
  submit_if_full(lock);
}

void Queue::download(void* to_host, const void* from, std::size_t nbytes) {
  if (nbytes == 0) {
    return;
  }
  const Access source = find(from, nbytes, Use::read);
  const std::shared_ptr<Chunk> staging = memory_.obtain(nbytes, Chunk::of_host);
  Lock lock(mutex_);
  Commands& commands = open(lock);
  commands.keep(staging);
  record_copy(commands, source, {Use::write, {staging->buffer, 0, nbytes}});
  const std::uint64_t value = submit_recorded(lock);
  lock.unlock();
  wait_for_passing(value);
  std::memcpy(to_host, staging->mapped, nbytes);
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
