#!/usr/bin/env python3
"""A plain ResNet in PyTorch, compiled and replayed as a CUDA graph: a peer of `sact bench --device cuda`.

    sact bench m.safetensors --device cuda --dtype bf16 --batch 64 --density 1 \\
      --peer "bench/peers/torch_compile.py --batch 64"

Norms that follow a convolution are folded into it, as our engine does it; weights are random. Times are CUDA events
around one replay, after another that is not counted.
"""
import argparse
import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

UNITS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


class Unit(nn.Module):
    def __init__(self, channels, width, stride, first):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.conv1 = nn.Conv2d(channels, width, 1)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.shortcut = nn.Conv2d(channels, 4 * width, 1, stride, bias=False) if first else None

    def forward(self, x):
        p = F.relu(self.norm(x))
        kept = self.shortcut(p) if self.shortcut is not None else x
        return kept + self.conv3(F.relu(self.conv2(F.relu(self.conv1(p)))))


class UnitV1(nn.Module):
    """Post-activation: all norms follow a convolution."""

    def __init__(self, channels, width, stride, first):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 1)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1)
        self.conv3 = nn.Conv2d(width, 4 * width, 1)
        self.shortcut = nn.Conv2d(channels, 4 * width, 1, stride) if first else None

    def forward(self, x):
        kept = self.shortcut(x) if self.shortcut is not None else x
        return F.relu(kept + self.conv3(F.relu(self.conv2(F.relu(self.conv1(x))))))


class Network(nn.Module):
    def __init__(self, units, v1):
        super().__init__()
        self.v1 = v1
        self.stem = nn.Conv2d(3, 64, 7, 2, 3)
        self.pool = nn.MaxPool2d(3, 2, 1)
        layers, channels = [], 64
        for block, count in enumerate(units):
            width = 64 << block
            for number in range(count):
                stride = 2 if number == 0 and block > 0 else 1
                layers.append((UnitV1 if v1 else Unit)(channels, width, stride, number == 0))
                channels = 4 * width
        self.units = nn.Sequential(*layers)
        self.norm = None if v1 else nn.BatchNorm2d(channels)
        self.head = nn.Linear(channels, 1000)

    def forward(self, x):
        x = self.stem(x)
        x = self.units(self.pool(F.relu(x) if self.v1 else x))
        return self.head((x if self.v1 else F.relu(self.norm(x))).mean((2, 3)))


def make_network(depth, v1, dtype):
    torch.manual_seed(0)
    network = Network(UNITS[depth], v1).eval().cuda()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.uniform_(-0.1, 0.1)
            module.running_var.uniform_(0.8, 1.2)
        if isinstance(module, (Unit, UnitV1)):
            module.conv3.weight.data.mul_(0.2)
    return network.to(memory_format=torch.channels_last).to(dtype)


def recorded(call):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph


def timed(graph):
    begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
    graph.replay()
    begin.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=int, default=101, choices=sorted(UNITS))
    parser.add_argument("--unit", default="bottleneck", choices=("bottleneck", "bottleneck_v1"))
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--size", default="224x224", help="height x width")
    parser.add_argument("--dtype", default="bf16", choices=("bf16", "fp16", "fp32"))
    parser.add_argument("--mode", default="default", help="of torch.compile; eager: without it")
    given = parser.parse_args()
    height, width = (int(side) for side in given.size.split("x"))
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[given.dtype]
    torch.backends.cudnn.benchmark = True
    start = time.time()
    with torch.no_grad():
        network = make_network(given.depth, given.unit == "bottleneck_v1", dtype)
        images = torch.randn(given.batch, 3, height, width, device="cuda", dtype=dtype)
        images = images.to(memory_format=torch.channels_last)
        if given.mode != "eager":
            network = torch.compile(network, mode=None if given.mode == "default" else given.mode, dynamic=False)
        graph = recorded(lambda: network(images))
        print(json.dumps({"runtime": f"PyTorch {torch.__version__} {given.mode}", "dtype": given.dtype,
                          "batch": given.batch, "height": height, "width": width,
                          "ready_seconds": round(time.time() - start, 1)}), flush=True)
        print("ready", file=sys.stderr, flush=True)
        for line in sys.stdin:
            words = line.split()
            if words[:1] == ["quit"]:
                break
            if words[:1] == ["run"]:
                print(json.dumps([timed(graph) for _ in range(int(words[1]))]), flush=True)


if __name__ == "__main__":
    main()
