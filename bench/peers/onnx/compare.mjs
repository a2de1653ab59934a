// Compares the logits of ONNX Runtime with those of 'sact predict --tensor IMAGES --raw RAW'.
//
//   node compare.mjs MODEL.onnx IMAGES.safetensors RAW.safetensors [--tolerance 1e-4]
//
// Prints the largest difference of a logit relative to the largest logit of its image, and fails
// when that is above the tolerance.
import {imageTensor, openSession, runScript} from './runtime.mjs';
import {readTensor} from './safetensors.mjs';

const options = {tolerance: {type: 'string', default: '1e-4'}};

function largestRelativeDifference(found, expected, classes) {
  let largest = 0;
  for (let start = 0; start < expected.length; start += classes) {
    const logits = expected.subarray(start, start + classes);
    const scale = logits.reduce((most, logit) => Math.max(most, Math.abs(logit)), 0);
    logits.forEach((logit, i) => {
      const difference = Math.abs(found[start + i] - logit) / scale;
      // Not Math.max alone: what is not a number must not pass for equal.
      largest = Number.isNaN(difference) ? Infinity : Math.max(largest, difference);
    });
  }
  return largest;
}

await runScript('compare.mjs MODEL.onnx IMAGES.safetensors RAW.safetensors', 3, options, async ([model, images, raw], given) => {
  const expected = readTensor(raw, 'logits');
  const session = await openSession(model, 1);
  const {logits} = await session.run({image: imageTensor(readTensor(images, 'image'))});
  if (String(logits.dims) !== String(expected.shape)) {
    throw new Error(`${model}: gives logits [${logits.dims}], but ${raw} has [${expected.shape}]`);
  }
  const difference = largestRelativeDifference(logits.data, expected.values, expected.shape[1]);
  console.log(`largest relative difference ${difference.toExponential(2)} over ${expected.shape[0]} image(s) and ${expected.shape[1]} classes`);
  if (!(difference <= Number(given.tolerance))) throw new Error(`more than the tolerance of ${given.tolerance}`);
});
