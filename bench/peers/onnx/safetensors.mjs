// Tensors of 32-bit floats in safetensors files: the length of a JSON header, the header, the data.
import {readFileSync, writeFileSync} from 'node:fs';

/// The tensor of that name: {shape, values}.
export function readTensor(path, name) {
  const bytes = readFileSync(path);
  const start = 8 + Number(bytes.readBigUInt64LE(0));
  const entry = JSON.parse(bytes.toString('utf8', 8, start))[name];
  if (!entry || entry.dtype !== 'F32') throw new Error(`${path}: has no tensor '${name}' of the type F32`);
  const [begin, end] = entry.data_offsets.map((offset) => start + offset);
  const copy = bytes.buffer.slice(bytes.byteOffset + begin, bytes.byteOffset + end);
  return {shape: entry.shape, values: new Float32Array(copy)};
}

export function writeTensor(path, name, {shape, values}) {
  const header = JSON.stringify({[name]: {dtype: 'F32', shape, data_offsets: [0, values.byteLength]}});
  const text = Buffer.from(header.padEnd(Math.ceil(header.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  writeFileSync(path, Buffer.concat([length, text, Buffer.from(values.buffer)]));
}
