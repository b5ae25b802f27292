// SPDX-License-Identifier: BSL-1.0
#include "errors.hpp"
#include "exchange.hpp"

#include <array>
#include <memory>
#include <vector>

namespace py = pybind11;

namespace byre::inline v0::python {
namespace {

/// What a consumer of a buffer holds, by the owner that the buffer names. Some release the buffer at once, keep that owner
/// or the array, and use the memory on: torch.frombuffer() the one, numpy.ndarray(buffer=x) the other. So the owner holds
/// a pin, and of a buffer that may be written the array does too, as long as it lives.
struct Exported {
  Pin pin;
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
};

/// As the module struct has them, by DType; of bfloat16 there is none.
constexpr std::array<const char*, detail::dtype_count> formats{
    "?", "B", "b", "h", "i", sizeof(long) == 8 ? "l" : "q", "e", nullptr, "f", "d", "Zf"};

bool asks_for(int flags, int what) noexcept {
  return (flags & what) == what;
}

/// What is wrong with the order of the elements for who asks by `flags`; null for nothing.
const char* wrong_order(const Tensor& tensor, int flags) {
  const bool is_c = tensor.is_contiguous();
  Dims axes(tensor.ndim());
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    axes[axis] = static_cast<std::int64_t>(axes.size() - 1 - axis);
  }
  const bool is_fortran = tensor.permute(axes).is_contiguous();
  if (asks_for(flags, PyBUF_F_CONTIGUOUS)) {
    return is_fortran ? nullptr : "in the order of Fortran";
  }
  if (asks_for(flags, PyBUF_ANY_CONTIGUOUS)) {
    return is_c || is_fortran ? nullptr : "contiguous";
  }
  const bool needs_c = asks_for(flags, PyBUF_C_CONTIGUOUS) || !asks_for(flags, PyBUF_STRIDES);
  return needs_c && !is_c ? "contiguous in the order of C" : nullptr;
}

Pin pin_to_write(Array& array) {
  constexpr const char* operation = "a writable buffer";
  try {
    if (!array.kept().to_write.is_writable()) {
      array.kept().to_write = pinned(array.tensor(), ExportTo::write, operation);
    }
    return pinned(array.tensor(), ExportTo::write, operation);
  } catch (...) {
    // Who is refused this, asks to read then, and may keep no more than the array.
    array.kept().keeps_reads = true;
    throw;
  }
}

Pin pin_to_read(Array& array) {
  Pin pin = pinned(array.tensor(), ExportTo::read, "a buffer");
  std::vector<Pin>& kept = array.kept().to_read;
  if (array.kept().keeps_reads && (kept.empty() || kept.back().data() != pin.data())) {
    kept.push_back(pinned(array.tensor(), ExportTo::read, "a buffer"));
  }
  return pin;
}

void fill(Py_buffer& view, int flags, PyObject* self) {
  auto& array = py::handle(self).cast<Array&>();
  const Tensor tensor = array.tensor();
  const char* const format = formats[static_cast<std::size_t>(tensor.dtype())];
  if (format == nullptr) {
    throw NotABuffer(
        format_text("a buffer of an array of bfloat16, for which Python has no format. Convert it: "
                    "x.astype('float32')."));
  }
  if (const char* const wrong = wrong_order(tensor, flags)) {
    throw NotABuffer(
        format_text("a buffer of elements that are %s, of an array of sizes %.200s and strides "
                    "%.200s. Copy it into order: byre.array(x.numpy()).",
                    wrong, to_string(tensor.sizes()).c_str(), to_string(tensor.strides()).c_str()));
  }
  const bool is_to_write = asks_for(flags, PyBUF_WRITABLE);
  auto exported = std::make_unique<Exported>();
  exported->pin = is_to_write ? pin_to_write(array) : pin_to_read(array);
  for (std::size_t axis = 0; axis < tensor.ndim(); ++axis) {
    exported->shape.push_back(tensor.sizes()[axis]);
    exported->strides.push_back(tensor.strides()[axis] *
                                static_cast<Py_ssize_t>(tensor.itemsize()));
  }
  static char nothing;  // some take null for an error
  auto* const first = first_element(exported->pin, tensor);
  view.buf = first == nullptr ? static_cast<void*>(&nothing) : first;
  view.len = static_cast<Py_ssize_t>(tensor.nbytes());
  view.itemsize = static_cast<Py_ssize_t>(tensor.itemsize());
  view.readonly = is_to_write ? 0 : 1;
  view.ndim = static_cast<int>(tensor.ndim());
  view.format = asks_for(flags, PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
  view.shape = asks_for(flags, PyBUF_ND) ? exported->shape.data() : nullptr;
  view.strides = asks_for(flags, PyBUF_STRIDES) ? exported->strides.data() : nullptr;
  view.suboffsets = nullptr;
  view.internal = nullptr;
  py::capsule owner(exported.get(), [](void* held) {
    delete static_cast<Exported*>(held);
    drain();
  });
  static_cast<void>(exported.release());
  view.obj = owner.release().ptr();
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  try {
    fill(*view, flags, self);
    return 0;
  } catch (...) {
    raise_in_python(std::current_exception());
    return -1;
  }
}

/// NumPy makes a memoryview of what has one, and keeps that.
void release_buffer(PyObject*, Py_buffer*) {}

}  // namespace

void define_buffers(ArrayClass& array) {
  auto& type = *reinterpret_cast<PyHeapTypeObject*>(array.ptr());
  type.as_buffer.bf_getbuffer = get_buffer;
  type.as_buffer.bf_releasebuffer = release_buffer;
  type.ht_type.tp_as_buffer = &type.as_buffer;
}

}  // namespace byre::inline v0::python
