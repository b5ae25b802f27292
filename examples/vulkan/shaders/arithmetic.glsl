// SPDX-License-Identifier: BSL-1.0
// Arithmetic in a domain; see elements.glsl. No product and sum are contracted to one operation.

Value plus(Value a, Value b) {
  precise Value sum = a + b;
  return sum;
}

#if DOMAIN != 3

Value times(Value a, Value b) {
  precise Value product = a * b;
  return product;
}

#else

bool is_nan(float value) {
  return (floatBitsToUint(value) & 0x7FFFFFFFu) > 0x7F800000u;
}
bool is_infinite(float value) {
  return (floatBitsToUint(value) & 0x7FFFFFFFu) == 0x7F800000u;
}
// An infinite part is one, any other none: with the sign it has.
vec2 boxed(vec2 value) {
  const uvec2 signs = floatBitsToUint(value) & uvec2(0x80000000u);
  return uintBitsToFloat(signs | uvec2(is_infinite(value.x) ? 0x3F800000u : 0u, is_infinite(value.y) ? 0x3F800000u : 0u));
}
// What is not a number as 0.
vec2 without_nan(vec2 value) {
  const uvec2 bits = floatBitsToUint(value);
  return uintBitsToFloat(uvec2(is_nan(value.x) ? bits.x & 0x80000000u : bits.x,
                               is_nan(value.y) ? bits.y & 0x80000000u : bits.y));
}
vec2 product_of(vec2 a, vec2 b) {
  precise float ac = a.x * b.x;
  precise float bd = a.y * b.y;
  precise float ad = a.x * b.y;
  precise float bc = a.y * b.x;
  precise vec2 product = vec2(ac - bd, ad + bc);
  return product;
}

// What is infinite stays so, as C's Annex G has it.
vec2 times(vec2 a, vec2 b) {
  const vec2 product = product_of(a, b);
  if (!is_nan(product.x) || !is_nan(product.y)) {
    return product;
  }
  bool recovers = false;
  vec2 left = a;
  vec2 right = b;
  if (is_infinite(a.x) || is_infinite(a.y)) {
    left = boxed(left);
    right = without_nan(right);
    recovers = true;
  }
  if (is_infinite(b.x) || is_infinite(b.y)) {
    right = boxed(right);
    left = without_nan(left);
    recovers = true;
  }
  if (!recovers && (is_infinite(a.x * b.x) || is_infinite(a.y * b.y) || is_infinite(a.x * b.y) ||
                    is_infinite(a.y * b.x))) {
    left = without_nan(left);
    right = without_nan(right);
    recovers = true;
  }
  return recovers ? uintBitsToFloat(0x7F800000u) * product_of(left, right) : product;
}

#endif
