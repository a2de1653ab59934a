// ONNX Runtime as a peer in timings: it waits for its turn, so that candidates can alternate.
//
//   node onnx_time.mjs MODEL.onnx [--threads 1] [--batch 1] [--size 224x224]
//
// After some runs to warm up it prints one line of JSON that says what it is. Then it reads lines:
// "run K" makes K inferences and prints their times in milliseconds as one JSON array; "quit", or
// the end of the input, ends it.
import {createInterface} from 'node:readline';
import {imageTensor, noise, openSession, parseCount, parseSize, runScript, version} from './runtime.mjs';

const warmUpRuns = 5;

const options = {
  threads: {type: 'string', default: '1'},
  batch: {type: 'string', default: '1'},
  size: {type: 'string', default: '224'},
};

function printLine(value) {
  process.stdout.write(JSON.stringify(value) + '\n');
}

await runScript('onnx_time.mjs MODEL.onnx [--threads N] [--batch N] [--size HxW]', 1, options, async ([model], given) => {
  const threads = parseCount('--threads', given.threads);
  const batch = parseCount('--batch', given.batch);
  const [height, width] = parseSize(given.size);
  const session = await openSession(model, threads);
  const feeds = {image: imageTensor(noise([batch, 3, height, width]))};
  const timed = async () => {
    const start = process.hrtime.bigint();
    await session.run(feeds);
    return Number(process.hrtime.bigint() - start) / 1e6;
  };

  for (let i = 0; i < warmUpRuns; ++i) await timed();
  printLine({runtime: 'onnxruntime', version, threads, batch, height, width});
  for await (const line of createInterface({input: process.stdin})) {
    if (line.trim() === 'quit') break;
    const run = /^run (\d+)$/.exec(line.trim());
    if (!run) throw new Error(`'${line}' is not a request: send "run K" or "quit"`);
    const times = [];
    for (let i = 0; i < Number(run[1]); ++i) times.push(await timed());
    printLine(times);
  }
  process.stdin.destroy();  // else "quit" would wait for the end of the input
});
