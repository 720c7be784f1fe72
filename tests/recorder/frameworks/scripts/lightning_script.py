"""A training script of Lightning that knows nothing of the recorder."""
import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=0.01)
        return {"optimizer": optimizer, "lr_scheduler": {
            "scheduler": torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5), "interval": "step"}}

    def training_step(self, batch, _):
        x, target = batch
        return torch.nn.functional.cross_entropy(self.net(x), target)


lightning.seed_everything(1)
rows = TensorDataset(torch.randn(32, 6), torch.randint(0, 4, (32,)))
trainer = lightning.Trainer(max_epochs=1, accumulate_grad_batches=4, gradient_clip_val=0.5, accelerator="cpu",
                            logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(Module(), DataLoader(rows, batch_size=4))
