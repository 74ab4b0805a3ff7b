"""The peer of the trainer: a DDP script as short as one would write it by hand, for torchrun.

It trains the same network on the same digits, with batches of the same size, and on GPUs where
there are some. It prints how many samples per second all ranks together took after the first epoch.
"""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from trainer.data.digits import load
from trainer.model import ConvNet

epochs = int(sys.argv[1])
batch_size = int(sys.argv[2])
gpus = torch.cuda.is_available()
device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if gpus else torch.device("cpu")
dist.init_process_group("nccl" if gpus else "gloo", device_id=device if gpus else None)
rank = dist.get_rank()
ranks = dist.get_world_size()
torch.manual_seed(1)
train = load(None, 1).train.to(device)
network = ConvNet(*train.inputs.shape[1:]).to(device)
model = DistributedDataParallel(network, device_ids=[device] if gpus else None)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
started = 0.0
for epoch in range(epochs):
    if epoch == 1:
        started = time.monotonic()
    order = torch.randperm(len(train), generator=torch.Generator().manual_seed(epoch))
    for batch in torch.split(order, batch_size):
        part = batch[rank::ranks]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(train.inputs[part]), train.labels[part])
        torch.autograd.backward(loss)
        optimizer.step()
if gpus:
    torch.cuda.synchronize()
if rank == 0:
    print((epochs - 1) * len(train) / (time.monotonic() - started))
dist.destroy_process_group()
sys.stdout.flush()
os._exit(0)  # as the trainer: threads of gloo may abort an interpreter that ends in order
