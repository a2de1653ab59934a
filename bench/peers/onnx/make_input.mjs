// Writes images of noise for 'sact predict --tensor' and for compare.mjs.
//
//   node make_input.mjs IMAGES.safetensors [--batch 1] [--size 224x224]
import {noise, parseCount, parseSize, runScript} from './runtime.mjs';
import {writeTensor} from './safetensors.mjs';

const options = {batch: {type: 'string', default: '1'}, size: {type: 'string', default: '224'}};

await runScript('make_input.mjs IMAGES.safetensors [--batch N] [--size HxW]', 1, options, async ([path], given) => {
  const shape = [parseCount('--batch', given.batch), 3, ...parseSize(given.size)];
  writeTensor(path, 'image', noise(shape));
  console.log(`wrote ${path}: image [${shape.join(', ')}]`);
});
