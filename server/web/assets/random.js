// Inputs that nobody gives, made as core/tensor/random.h says: the same on every device.

// 64 bits as two numbers of 32: SplitMix64 (G. L. Steele Jr., D. Lea, C. H. Flood, OOPSLA 2014).
class Words {
  constructor(high, low) {
    this.high = high >>> 0;
    this.low = low >>> 0;
  }
  static of(big) {
    return new Words(Number(BigInt.asUintN(32, big >> 32n)), Number(BigInt.asUintN(32, big)));
  }
  add({high, low}) {
    const sum = this.low + low;
    this.high = (this.high + high + (sum > 0xffffffff ? 1 : 0)) >>> 0;
    this.low = sum >>> 0;
  }
  // With itself, moved to the right; less than 32 bits.
  mix(bits) {
    const low = (this.low >>> bits) | (this.high << (32 - bits));
    this.low = (this.low ^ low) >>> 0;
    this.high = (this.high ^ (this.high >>> bits)) >>> 0;
  }
  multiply({high, low}) {
    const [a, b] = [this.low & 0xffff, this.low >>> 16];
    const [c, d] = [low & 0xffff, low >>> 16];
    const middle = b * c + ((a * c) / 65536 >>> 0);  // Below 2^33.
    const other = a * d + middle % 65536;
    const top = b * d + Math.floor(middle / 65536) + Math.floor(other / 65536);
    this.high = (top + Math.imul(this.high, low) + Math.imul(this.low, high)) >>> 0;
    this.low = Math.imul(this.low, low) >>> 0;
  }
}

const STEP = Words.of(0x9e3779b97f4a7c15n);
const FIRST = Words.of(0xbf58476d1ce4e5b9n);
const SECOND = Words.of(0x94d049bb133111ebn);

// Calls `use` with the words of each number.
function generate(state, count, use) {
  const at = Words.of(state);
  const z = new Words(0, 0);
  for (let i = 0; i < count; ++i) {
    at.add(STEP);
    z.high = at.high;
    z.low = at.low;
    z.mix(30);
    z.multiply(FIRST);
    z.mix(27);
    z.multiply(SECOND);
    z.mix(31);
    use(i, z.high, z.low);
  }
}

function toEven(value) {
  const down = Math.floor(value);
  const rest = value - down;
  return rest > 0.5 || (rest === 0.5 && down % 2 === 1) ? down + 1 : down;
}

// Bits of a number from 0 to 1, rounded to nearest, ties to even.
function float16(value) {
  if (value < 2 ** -14) return toEven(value * 2 ** 24);
  const exponent = Math.floor(Math.log2(value));
  return (exponent + 15) * 1024 + toEven((value / 2 ** exponent - 1) * 1024);
}
const floatBits = new DataView(new ArrayBuffer(4));
function bfloat16(value) {
  floatBits.setFloat32(0, value);
  return toEven(floatBits.getUint32(0) / 65536);
}

const unit = (high) => (high >>> 8) * 2 ** -24;
const small = (high) => high >>> 29;
const first = (high) => high >>> 31;
const MAKERS = {
  f32: [Float32Array, unit],
  f64: [Float64Array, (high, low) => (high * 2 ** 21 + (low >>> 11)) * 2 ** -53],
  f16: [Uint16Array, (high) => float16(unit(high))],
  bf16: [Uint16Array, (high) => bfloat16(unit(high))],
  bool: [Uint8Array, first], u2: [Uint8Array, first], i2: [Uint8Array, first],
  u8: [Uint8Array, small], i8: [Uint8Array, small], u4: [Uint8Array, small], i4: [Uint8Array, small],
  u16: [Uint16Array, small], i16: [Uint16Array, small], u32: [Uint32Array, small], i32: [Uint32Array, small],
  u64: [BigUint64Array, (high) => BigInt(small(high))], i64: [BigUint64Array, (high) => BigInt(small(high))],
};

// The elements' bytes; null for a type of which none are made. `seed` is a BigInt.
export async function randomBytes({name, dtype, shape}, seed) {
  if (!MAKERS[dtype]) return null;
  const [Elements, make] = MAKERS[dtype];
  const hash = new DataView(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(name)));
  const elements = new Elements(shape.reduce((a, b) => a * b, 1));
  generate(BigInt.asUintN(64, seed + hash.getBigUint64(0, true)), elements.length, (i, high, low) => { elements[i] = make(high, low); });
  return elements.buffer;
}
