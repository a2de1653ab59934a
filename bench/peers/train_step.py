"""One step of training in plain PyTorch, for comparison with bench/train_step.cpp.

A pre-activation ResNet and its SACT form as one would write them with torch.nn: eager mode, bf16
autocast, channels last, cuDNN's fastest algorithms, SGD with foreach.

    python3 bench/peers/train_step.py [--depth 101] [--size 128] [--batch 128]
"""
import argparse
import statistics
import time

import torch
from torch import nn
import torch.nn.functional as F


class Score(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.local_norm, self.local = nn.BatchNorm2d(channels), nn.Conv2d(channels, 1, 3, padding=1, bias=False)
        self.global_norm, self.linear = nn.BatchNorm1d(channels), nn.Linear(channels, 1)
        nn.init.constant_(self.linear.bias, -3)

    def forward(self, x):
        pooled = self.linear(self.global_norm(x.mean((2, 3)))).view(-1, 1, 1, 1)
        return torch.sigmoid((self.local(self.local_norm(x)) + pooled).float())


class Unit(nn.Module):
    def __init__(self, channels, width, stride, first, score):
        super().__init__()
        self.shortcut = nn.Conv2d(channels, 4 * width, 1, stride, bias=False) if first else None
        self.norm1, self.conv1 = nn.BatchNorm2d(channels), nn.Conv2d(channels, width, 1, bias=False)
        self.norm2, self.conv2 = nn.BatchNorm2d(width), nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.norm3, self.conv3 = nn.BatchNorm2d(width), nn.Conv2d(width, 4 * width, 1, bias=False)
        self.score = Score(4 * width) if score else None

    def forward(self, x):
        p = F.relu(self.norm1(x))
        f = self.conv3(F.relu(self.norm3(self.conv2(F.relu(self.norm2(self.conv1(p)))))))
        return (x if self.shortcut is None else self.shortcut(p)), f


class Network(nn.Module):
    def __init__(self, units, adaptive, classes=10):
        super().__init__()
        self.adaptive = adaptive
        self.stem = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.blocks, channels = nn.ModuleList(), 64
        for i, count in enumerate(units):
            block, width = nn.ModuleList(), 64 << i
            for u in range(count):
                stride = 2 if u == 0 and i > 0 else 1
                block.append(Unit(channels, width, stride, u == 0, adaptive and u + 1 < count))
                channels = 4 * width
            self.blocks.append(block)
        self.norm, self.head = nn.BatchNorm2d(channels), nn.Linear(channels, classes)

    def forward(self, x):
        x = F.max_pool2d(self.stem(x), 3, 2, 1)
        cost = 0
        for block in self.blocks:
            if not self.adaptive:
                for unit in block:
                    shortcut, f = unit(x)
                    x = shortcut + f
                continue
            x, block_cost = self.halting(block, x)
            cost = cost + block_cost
        return self.head(F.relu(self.norm(x)).mean((2, 3))), cost

    @staticmethod
    def halting(block, x):
        shortcut, f = block[0](x)
        x = shortcut + f
        shape = (x.size(0), 1, x.size(2), x.size(3))
        active = torch.ones(shape, device=x.device)
        total, remainder, units, output = torch.zeros_like(active), torch.ones_like(active), 0, 0
        halted_remainder = torch.zeros_like(active)
        for u, unit in enumerate(block):
            if u > 0:
                _, f = unit(x)
                x = x + f * active.to(f.dtype)
            h = unit.score(x) if unit.score is not None else torch.ones_like(active)
            total = total + h.detach() * active
            goes_on = active * (total < 0.99).float() if unit.score is not None else torch.zeros_like(active)
            halts = active - goes_on
            p = goes_on * h + halts * remainder
            halted_remainder = halted_remainder + halts * remainder
            units = units + active
            remainder = remainder - goes_on * h
            output = output + p * x
            active = goes_on
        return output.to(x.dtype), (units + halted_remainder).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--depth", type=int, default=101)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    units = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}[options.depth]
    images = torch.randn(options.batch, 3, options.size, options.size, device="cuda")
    images = images.contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 10, (options.batch,), device="cuda")
    candidates = {}
    for name, adaptive in (("PyTorch eager, plain network", False), ("PyTorch eager, SACT", True)):
        network = Network(units, adaptive).cuda().to(memory_format=torch.channels_last)
        sgd = torch.optim.SGD(network.parameters(), 1e-4, 0.9, weight_decay=1e-4, foreach=True)
        candidates[name] = (network, sgd, [])

    def run(network, sgd, steps):
        for _ in range(steps):
            sgd.zero_grad(set_to_none=True)
            with torch.autocast("cuda", torch.bfloat16):
                logits, cost = network(images)
            loss = F.cross_entropy(logits.float(), labels, label_smoothing=0.1) + 0.005 * cost
            loss.backward()
            sgd.step()
        torch.cuda.synchronize()

    for network, sgd, _ in candidates.values():
        run(network, sgd, 5)
    for _ in range(options.rounds):
        for network, sgd, times in candidates.values():
            run(network, sgd, 2)
            start = time.perf_counter()
            run(network, sgd, options.steps)
            times.append((time.perf_counter() - start) / options.steps * 1e3)
    for name, (_, _, times) in candidates.items():
        print(f"{name}: median {statistics.median(times):.2f} ms, {min(times):.2f} to {max(times):.2f}")


if __name__ == "__main__":
    main()
