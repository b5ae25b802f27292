// SPDX-License-Identifier: BSL-1.0
#include "vulkan/device/queue.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <byre/error/error.hpp>
#include <cstring>

#include "vulkan/device/memory.hpp"

namespace examples::vulkan {
namespace {

constexpr std::size_t most_staged_at_once = std::size_t{16} << 20;
constexpr std::size_t least_staging = std::size_t{64} << 10;
constexpr std::size_t kept_staging = 4;

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

void expect_groups(const std::array<std::uint32_t, 3>& groups,
                   const VkPhysicalDeviceLimits& limits) {
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

void expect_arguments(const PipelineLayout& layout, std::size_t uses, std::size_t push_nbytes,
                      std::size_t parameters_nbytes) {
  if (uses != layout.buffers || push_nbytes != layout.push_constants_nbytes ||
      (parameters_nbytes != 0) != layout.has_parameters) {
    throw byre::InvalidArgument(
        byre::format_text("a dispatch has %zu buffers, %zu bytes of push constants and %zu of "
                          "parameters; its pipeline takes %u, %u "
                          "and %s.",
                          uses, push_nbytes, parameters_nbytes, layout.buffers,
                          layout.push_constants_nbytes, layout.has_parameters ? "some" : "none"));
  }
}

}  // namespace

Queue::Place Queue::find(const void* address, std::size_t nbytes) {
  DeviceBlock& block = memory_.find(address, nbytes);
  return {&block, block.offset + (reinterpret_cast<std::uintptr_t>(address) - block.address())};
}

void Queue::dispatch(const Pipeline& pipeline, std::span<const Use> uses,
                     std::span<const std::byte> push_constants,
                     std::span<const std::byte> parameters, std::uint32_t groups_x,
                     std::uint32_t groups_y, std::uint32_t groups_z) {
  const PipelineLayout& layout = pipeline.layout();
  expect_arguments(layout, uses.size(), push_constants.size(), parameters.size());
  expect_groups({groups_x, groups_y, groups_z}, driver_.limits());
  if (groups_x == 0 || groups_y == 0 || groups_z == 0) {
    return;
  }
  std::vector<Access> accesses;
  std::vector<VkDescriptorBufferInfo> buffers;
  accesses.reserve(uses.size());
  buffers.reserve(uses.size() + 1);
  for (const Use& use : uses) {
    expect_size(use, driver_.limits());
    const Place place = find(use.address, use.nbytes);
    accesses.push_back({place.block, use.kind});
    buffers.push_back({place.block->chunk->buffer, place.offset, whole_words(use.nbytes)});
  }

  Lock lock(mutex_);
  expect_device();
  Commands& commands = open(lock);
  if (layout.has_parameters) {
    buffers.push_back(commands.put_parameters(parameters));
  }
  const VkDescriptorSet set = commands.make_set(pipeline.set_layout_, buffers);
  // From here on nothing fails.
  order(lock, commands, accesses);
  vkCmdBindPipeline(commands.buffer(), VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.pipeline_);
  vkCmdBindDescriptorSets(commands.buffer(), VK_PIPELINE_BIND_POINT_COMPUTE,
                          pipeline.pipeline_layout_, 0, 1, &set, 0, nullptr);
  if (!push_constants.empty()) {
    vkCmdPushConstants(commands.buffer(), pipeline.pipeline_layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       static_cast<std::uint32_t>(push_constants.size()), push_constants.data());
  }
  vkCmdDispatch(commands.buffer(), groups_x, groups_y, groups_z);
  pipeline.last_use_.store(next_value_, std::memory_order_relaxed);
  ++stats_.dispatches;
  count_command(lock);
}

void Queue::record_copy(const Lock& lock, Commands& commands, const Place& to, const Place& from,
                        std::size_t nbytes) {
  const std::array accesses{Access{from.block, Use::read}, Access{to.block, Use::write}};
  order(lock, commands, accesses);
  const VkBufferCopy region{from.offset, to.offset, nbytes};
  vkCmdCopyBuffer(commands.buffer(), from.block->chunk->buffer, to.block->chunk->buffer, 1,
                  &region);
  ++stats_.copies;
  stats_.bytes_copied += nbytes;
}

void Queue::copy(void* to, const void* from, std::size_t nbytes) {
  if (nbytes == 0) {
    return;
  }
  const Place place_to = find(to, nbytes);
  const Place place_from = find(from, nbytes);
  Lock lock(mutex_);
  expect_device();
  record_copy(lock, open(lock), place_to, place_from, nbytes);
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
  expect_device();
  Commands& commands = open(lock);
  record_copy(lock, commands, place_to, place_from, nbytes);
  ++commands.recorded;
  made.front().value = next_value_;
  if (one_submissions_ == 0) {
    submit_recorded(lock);
  }
  made.front().copy = std::move(pending);
  pending_.splice(pending_.end(), made);
  retire(lock);
}

void Queue::fill(void* to, std::uint32_t word, std::size_t nbytes) {
  if (nbytes == 0) {
    return;
  }
  const Place place = find(to, nbytes);
  if (place.offset % 4 != 0 || nbytes % 4 != 0) {
    throw byre::InvalidArgument(byre::format_text(
        "%zu bytes at %p were to be filled; both have to be multiples of 4.", nbytes, to));
  }
  Lock lock(mutex_);
  expect_device();
  Commands& commands = open(lock);
  order(lock, commands, std::array{Access{place.block, Use::write}});
  vkCmdFillBuffer(commands.buffer(), place.block->chunk->buffer, place.offset, nbytes, word);
  ++stats_.fills;
  count_command(lock);
}

void Queue::upload(void* to, const void* from_host, std::size_t nbytes) {
  if (nbytes == 0) {
    return;
  }
  Place place = find(to, nbytes);
  if (!write_mapped(place, from_host, nbytes)) {
    const auto* from = static_cast<const std::byte*>(from_host);
    for (std::size_t done = 0; done != nbytes;) {
      const std::size_t piece = std::min(nbytes - done, most_staged_at_once);
      upload_piece({place.block, place.offset + done}, from + done, piece);
      done += piece;
    }
  }
  const Lock lock(mutex_);
  ++stats_.uploads;
  stats_.bytes_uploaded += nbytes;
}

/// Where the host addresses the block, and the device is done with it.
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

void Queue::upload_piece(const Place& to, const std::byte* from_host, std::size_t nbytes) {
  std::shared_ptr<Chunk> staging = take_staging(nbytes);
  std::memcpy(staging->mapped, from_host, nbytes);
  Lock lock(mutex_);
  expect_device();
  Commands& commands = open(lock);
  commands.keep(staging);
  order(lock, commands, std::array{Access{to.block, Use::write}});
  const VkBufferCopy region{0, to.offset, nbytes};
  vkCmdCopyBuffer(commands.buffer(), staging->buffer, to.block->chunk->buffer, 1, &region);
  if (nbytes != most_staged_at_once || one_submissions_ != 0) {
    count_command(lock);
    return;
  }
  // Of what is large, the host is at most a few pieces ahead.
  ++commands.recorded;
  const std::uint64_t value = submit_recorded(lock);
  lock.unlock();
  wait_for_passing(value < kept_staging ? 0 : value - kept_staging);
}

void Queue::download(void* to_host, const void* from, std::size_t nbytes) {
  if (nbytes == 0) {
    return;
  }
  const Place place = find(from, nbytes);
  auto* const to = static_cast<std::byte*>(to_host);
  if (const std::byte* const mapped = place.block->chunk->mapped) {
    Lock lock(mutex_);
    expect_device();
    const std::uint64_t written = place.block->last_write;
    if (!submitted_.empty() ? submitted_.back().value < written : !has_passed(written)) {
      submit_recorded(lock);
    }
    lock.unlock();
    wait_for_passing(written);
    std::memcpy(to, mapped + place.offset, nbytes);
  } else {
    for (std::size_t done = 0; done != nbytes;) {
      const std::size_t piece = std::min(nbytes - done, most_staged_at_once);
      download_piece(to + done, {place.block, place.offset + done}, piece);
      done += piece;
    }
  }
  const Lock lock(mutex_);
  ++stats_.downloads;
  stats_.bytes_downloaded += nbytes;
}

void Queue::download_piece(std::byte* to_host, const Place& from, std::size_t nbytes) {
  std::shared_ptr<Chunk> staging = take_staging(nbytes);
  Lock lock(mutex_);
  expect_device();
  Commands& commands = open(lock);
  commands.keep(staging);
  order(lock, commands, std::array{Access{from.block, Use::read}});
  const VkBufferCopy region{from.offset, 0, nbytes};
  vkCmdCopyBuffer(commands.buffer(), from.block->chunk->buffer, staging->buffer, 1, &region);
  ++commands.recorded;
  const std::uint64_t value = submit_recorded(lock);
  lock.unlock();
  wait_for_passing(value);
  std::memcpy(to_host, staging->mapped, nbytes);
  lock.lock();
  put_staging(lock, std::move(staging));
}

std::shared_ptr<Chunk> Queue::take_staging(std::size_t nbytes) {
  const std::size_t needed = std::max(std::bit_ceil(nbytes), least_staging);
  {
    const Lock lock(mutex_);
    const auto found = std::find_if(free_staging_.begin(), free_staging_.end(),
                                    [&](const auto& chunk) { return chunk->nbytes == needed; });
    if (found != free_staging_.end()) {
      std::shared_ptr<Chunk> taken = std::move(*found);
      free_staging_.erase(found);
      return taken;
    }
  }
  std::shared_ptr<Chunk> made;
  try {
    made = allocate_host_chunk(driver_, needed);
  } catch (const byre::OutOfMemory&) {
    wait_idle();
    memory_.trim();
    made = allocate_host_chunk(driver_, needed);
  }
  const Lock lock(mutex_);
  ++stats_.staging_allocations;
  return made;
}

/// Keeps it for later, unless somebody uses it still, or there are enough.
void Queue::put_staging(const Lock&, std::shared_ptr<Chunk> staging) noexcept {
  if (staging.use_count() == 1) {
    if (free_staging_.size() == kept_staging) {
      free_staging_.erase(free_staging_.begin());
    }
    free_staging_.push_back(std::move(staging));  // reserved by the constructor
  }
}

QueueStats Queue::stats() const {
  const Lock lock(mutex_);
  QueueStats stats = stats_;
  for (const std::list<Commands>* const commands : {&open_, &closed_, &submitted_, &free_}) {
    for (const Commands& each : *commands) {
      stats.recording_allocations += each.allocations();
    }
  }
  return stats;
}

}  // namespace examples::vulkan
