// What the scripts of this folder share: opening a network in ONNX Runtime, images to run it on,
// and their command lines.
import {createRequire} from 'node:module';
import {parseArgs} from 'node:util';
import ort from 'onnxruntime-node';

export const version = createRequire(import.meta.url)('onnxruntime-node/package.json').version;

/// A session on the CPU with all optimisations and this many threads.
export function openSession(model, threads) {
  return ort.InferenceSession.create(model, {
    executionProviders: ['cpu'],
    graphOptimizationLevel: 'all',
    executionMode: 'sequential',
    interOpNumThreads: 1,
    intraOpNumThreads: threads,
  });
}

export function imageTensor({shape, values}) {
  return new ort.Tensor('float32', values, shape);
}

/// Images of noise with mean 0 and variance 1, the same every time (the generator is mulberry32).
export function noise(shape) {
  let state = 1;
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
  const count = shape.reduce((product, extent) => product * extent, 1);
  const width = Math.sqrt(12);
  return {shape, values: Float32Array.from({length: count}, () => width * (uniform() - 0.5))};
}

/// "224" or "224x320": height and width.
export function parseSize(text) {
  const match = /^(\d+)(?:x(\d+))?$/.exec(text);
  if (!match) throw new Error(`--size is '${text}': give one number (224) or height x width (224x320)`);
  return [Number(match[1]), Number(match[2] ?? match[1])];
}

export function parseCount(option, text) {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Error(`${option} is '${text}': give a whole number from 1`);
  return count;
}

/// Runs a script: `main` gets its files, which `usage` names, and options. A failure is one line.
export async function runScript(usage, files, options, main) {
  try {
    const {values, positionals} = parseArgs({options, allowPositionals: true});
    if (positionals.length !== files) throw new Error(`usage: ${usage}`);
    await main(positionals, values);
  } catch (error) {
    console.error(String(error.message).replace(/\s+/g, ' '));
    process.exit(1);
  }
}
