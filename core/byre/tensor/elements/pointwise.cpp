// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/detail/float_environment.hpp>
#include <byre/tensor/elements/detail/overlap.hpp>
#include <byre/tensor/elements/detail/pointwise.hpp>
#include <byre/tensor/layout/detail/strided_loop.hpp>

#include <algorithm>
#include <utility>

namespace byre::inline BYRE_ABI::detail {
namespace {

/// Memory for a block of any dtype.
struct alignas(data_alignment) BlockBuffer {
  std::array<std::byte, static_cast<std::size_t>(block_length) * sizeof(std::complex<float>)> bytes;
};

/// How the elements of one operand are converted to or from the dense blocks of a kernel.
struct BlockConversion {
  std::int64_t itemsize;  ///< the size of an element in a block, in bytes
  bool is_converted;      ///< also true for bool to bool: loaded() makes each byte 0 or 1
  ConvertRow convert;

  bool is_dense(std::int64_t stride) const noexcept { return !is_converted && stride == itemsize; }
};

BlockConversion block_conversion(DType to, DType from, const char* operation, DType in_block) {
  return {static_cast<std::int64_t>(itemsize(in_block)), to != from,
          conversion(to, from, operation)};
}

/// Applies a kernel to rows. Operand 0 of a row is the output.
template <std::size_t Count>
class RowLoop {
 public:
  RowLoop(const Kernel<Count>& kernel, const char* operation, const Tensor& output,
          const std::array<const Tensor*, Count>& operands)
      : kernel_(kernel),
        output_(block_conversion(output.dtype(), kernel.result, operation, kernel.result)) {
    for (std::size_t number = 0; number < Count; ++number) {
      const DType wanted = kernel.operands[number];
      inputs_[number] = block_conversion(wanted, operands[number]->dtype(), operation, wanted);
      inputs_[number].is_converted = inputs_[number].is_converted || wanted == DType::boolean;
    }
  }

  void operator()(Row<1 + Count> row) {
    const std::int64_t longest = longest_piece(row);
    while (row.length > 0) {
      const std::int64_t length = std::min(row.length, longest);
      std::array<const void*, Count> blocks;
      for (std::size_t number = 0; number < Count; ++number) {
        blocks[number] = load(number, row.first[1 + number], row.strides[1 + number], length);
      }
      compute(row.first[0], row.strides[0], blocks, length);
      for (std::size_t number = 0; number <= Count; ++number) {
        row.first[number] += length * row.strides[number];
      }
      row.length -= length;
    }
  }

 private:
  /// The number of elements to compute at once: the whole row if all operands are dense; the
  /// capacity of the long buffer if one operand repeats one element and all others are dense;
  /// otherwise block_length.
  std::int64_t longest_piece(const Row<1 + Count>& row) {
    std::size_t others = output_.is_dense(row.strides[0]) ? 0 : 1;
    repeated_ = Count;
    for (std::size_t number = 0; number < Count; ++number) {
      if (!inputs_[number].is_dense(row.strides[1 + number])) {
        ++others;
        repeated_ = row.strides[1 + number] == 0 ? number : Count;
      }
    }
    if (others == 0) {
      return row.length;
    }
    if (others > 1 || repeated_ == Count) {
      repeated_ = Count;
      return block_length;
    }
    return static_cast<std::int64_t>(long_buffer_.size()) / inputs_[repeated_].itemsize;
  }

  const void* load(std::size_t number, const std::byte* from, std::int64_t stride,
                   std::int64_t length) {
    const BlockConversion& input = inputs_[number];
    if (input.is_dense(stride)) {
      return from;
    }
    std::byte* const block =
        number == repeated_ ? long_buffer_.data() : buffers_[1 + number].bytes.data();
    if (stride == 0 && std::exchange(filled_with_[number], from) == from) {
      return block;  // filled by the first piece, the longest; all rows are equally long
    }
    input.convert(block, input.itemsize, from, stride, length);
    return block;
  }

  void compute(std::byte* to, std::int64_t stride, const std::array<const void*, Count>& blocks,
               std::int64_t length) {
    if (output_.is_dense(stride)) {
      kernel_.block(to, blocks, length);
      return;
    }
    std::byte* const block = buffers_[0].bytes.data();
    kernel_.block(block, blocks, length);
    output_.convert(to, stride, block, output_.itemsize, length);
  }

  const Kernel<Count>& kernel_;
  BlockConversion output_;
  std::array<BlockConversion, Count> inputs_;
  std::array<BlockBuffer, 1 + Count> buffers_;
  alignas(data_alignment) std::array<std::byte, 8192> long_buffer_;
  std::size_t repeated_ = Count;  ///< the operand in the long buffer; Count if it is unused
  std::array<const std::byte*, Count> filled_with_{};  ///< the repeated element in each buffer
};

/// Whether the kernel can compute all elements as one block: all operands are contiguous, of equal
/// sizes and of the kernel's dtypes. False for operands of bool: their bytes must go through
/// loaded() first, because a kernel must read only the bytes 0 and 1.
template <std::size_t Count>
bool are_one_block(const Kernel<Count>& kernel, DType result,
                   const std::array<const Tensor*, Count>& operands) {
  bool are_alike = result == kernel.result;
  for (std::size_t number = 0; number < Count; ++number) {
    const Tensor& operand = *operands[number];
    are_alike = are_alike && operand.dtype() == kernel.operands[number] &&
                operand.dtype() != DType::boolean && operand.sizes() == operands[0]->sizes() &&
                operand.is_contiguous();
  }
  return are_alike && operands[0]->numel() != 0;
}

/// Computes all elements as one block. `output` is new, so that it overlaps no operand.
template <std::size_t Count>
void compute_block_into(Tensor& output, CallSite site, const Kernel<Count>& kernel,
                        const std::array<const Tensor*, Count>& operands) {
  std::array<const void*, Count> blocks;
  for (std::size_t number = 0; number < Count; ++number) {
    ElementAccess::record_read(*operands[number], site);
    blocks[number] = ElementAccess::to_read(*operands[number]);
  }
  void* const to = ElementAccess::to_write(output, site);
  const DefaultFloatEnvironment environment;
  kernel.block(to, blocks, output.numel());
}

}  // namespace

template <std::size_t Count>
void compute_into(Tensor& output, const char* operation, CallSite site, const Kernel<Count>& kernel,
                  const std::array<const Tensor*, Count>& operands) {
  std::array<Layout, Count> layouts;
  expect_distinct_elements(output, operation);
  for (std::size_t number = 0; number < Count; ++number) {
    layouts[number] = broadcast_to(output.sizes(), *operands[number], operation);
    expect_no_partial_overlap(output, *operands[number], layouts[number], operation);
  }
  if (output.numel() == 0) {
    return;
  }
  RowLoop<Count> loop(kernel, operation, output, operands);
  for (const Tensor* const operand : operands) {
    ElementAccess::record_read(*operand, site);
  }
  // to_write() is called before to_read(): materializing moves the data of every tensor with this
  // storage, and operands may be among these tensors. Lazy clones of the output are unaffected.
  std::array<Operand, 1 + Count> rows;
  rows[0] = Operand::of(ElementAccess::to_write(output, site), output.layout(), output.itemsize());
  for (std::size_t number = 0; number < Count; ++number) {
    const Tensor& operand = *operands[number];
    rows[1 + number] =
        Operand::of(ElementAccess::to_read(operand), layouts[number], operand.itemsize());
  }
  const DefaultFloatEnvironment environment;
  for_each_row(output.sizes(), rows, loop);
}

template <std::size_t Count>
Tensor computed(const char* operation, CallSite site, const Kernel<Count>& kernel, DType result,
                const std::array<const Tensor*, Count>& operands) {
  if (are_one_block(kernel, result, operands)) {
    Tensor output = Tensor::empty(operands[0]->sizes(), result);
    compute_block_into(output, site, kernel, operands);
    return output;
  }
  Dims sizes(operands[0]->sizes());
  for (const Tensor* const operand : operands) {
    sizes = broadcast_sizes(sizes, operand->sizes(), operation);
  }
  Tensor output = Tensor::empty(sizes, result);
  compute_into(output, operation, site, kernel, operands);
  return output;
}

template Tensor computed(const char*, CallSite, const Kernel<1>&, DType,
                         const std::array<const Tensor*, 1>&);
template Tensor computed(const char*, CallSite, const Kernel<2>&, DType,
                         const std::array<const Tensor*, 2>&);
template Tensor computed(const char*, CallSite, const Kernel<3>&, DType,
                         const std::array<const Tensor*, 3>&);
template void compute_into(Tensor&, const char*, CallSite, const Kernel<1>&,
                           const std::array<const Tensor*, 1>&);
template void compute_into(Tensor&, const char*, CallSite, const Kernel<2>&,
                           const std::array<const Tensor*, 2>&);

}  // namespace byre::inline BYRE_ABI::detail
