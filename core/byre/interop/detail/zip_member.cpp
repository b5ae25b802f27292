// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/zip_error.hpp>
#include <byre/interop/detail/zip_member.hpp>

#include <algorithm>
#include <cinttypes>

namespace byre::inline v0::detail {
ZipMemberReader::ZipMemberReader(const ZipBytes& bytes, const ZipMember& member, const char* source)
    : bytes_(bytes),
      member_(member),
      source_(source),
      position_(static_cast<std::size_t>(member.data_offset)),
      left_(static_cast<std::size_t>(member.packed_nbytes)) {
  if (member.method == ZipMethod::deflated) {
    inflater_.emplace();
    buffer_.resize(std::min(left_, deflate_buffer_nbytes));
  }
}

void ZipMemberReader::read(std::span<std::byte> destination) {
  if (inflater_) {
    inflate(destination);
  } else {
    bytes_.read(position_, destination);
    position_ += destination.size();
  }
  crc_ = zip_crc(destination, crc_);
}

void ZipMemberReader::inflate(std::span<std::byte> destination) {
  while (!destination.empty()) {
    if (is_end_) {
      refuse_length();
    }
    destination = destination.subspan(inflate_some(destination));
  }
}

std::size_t ZipMemberReader::inflate_some(std::span<std::byte> destination) {
  if (input_.empty() && left_ != 0) {
    const auto next = std::span(buffer_).first(std::min(left_, buffer_.size()));
    bytes_.read(position_, next);
    position_ += next.size();
    left_ -= next.size();
    input_ = next;
  }
  const DeflateStep step = inflater_->step(input_, destination);
  if (step.wrong != nullptr) {
    refuse_member(source_, member_.name,
                  format_text("has deflated data that are damaged (%.60s)", step.wrong),
                  save_again);
  }
  if (!step.is_end && step.taken == 0 && step.made == 0) {
    refuse_member(source_, member_.name, format_text("has deflated data that end too early"),
                  save_again);
  }
  input_ = input_.subspan(step.taken);
  is_end_ = step.is_end;
  return step.made;
}

void ZipMemberReader::finish() {
  if (inflater_) {
    std::byte beyond{};
    while (!is_end_) {
      if (inflate_some({&beyond, 1}) != 0) {
        refuse_length();
      }
    }
    if (!input_.empty() || left_ != 0) {
      refuse_member(source_, member_.name,
                    format_text("has %zu bytes behind its deflated data", input_.size() + left_),
                    save_again);
    }
  }
  if (crc_ != member_.crc) {
    refuse_member(source_, member_.name,
                  format_text("has the CRC-32 0x%08" PRIx32 ", and should have 0x%08" PRIx32, crc_,
                              member_.crc),
                  "It was damaged. Take it from where it was copied from, or save it again.");
  }
}

void ZipMemberReader::refuse_length() const {
  refuse_member(
      source_, member_.name,
      format_text("does not inflate to the %" PRIu64 " bytes it is said to have", member_.nbytes),
      save_again);
}

}  // namespace byre::inline v0::detail
