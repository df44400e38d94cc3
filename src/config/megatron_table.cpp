#include "config/megatron_table.h"

#include <array>

namespace megadlm::config {
namespace {

using enum MegatronOption::Handling;

constexpr std::array kRows{
    // Other spellings.
    MegatronRow{alias, "", "use-rotary-position-embeddings", "", "", "position-embedding-type=rope"},
    MegatronRow{alias, "", "no-position-embedding", "", "", "position-embedding-type=none"},
    MegatronRow{alias, "", "", "encoder-num-layers", "", "num-layers"},
    MegatronRow{alias, "", "", "encoder-seq-length", "", "seq-length"},
    MegatronRow{alias, "", "", "layernorm-epsilon", "", "norm-epsilon"},
    MegatronRow{alias, "", "", "persistent-save-interval", "", "save-interval"},
    MegatronRow{alias, "", "", "", "train-data-path", "data-path"},

    // One process.
    MegatronRow{
        only, "one process trains", "",
        "tensor-model-parallel-size pipeline-model-parallel-size context-parallel-size model-parallel-size "
        "expert-model-parallel-size expert-tensor-parallel-size num-distributed-optimizer-instances",
        "", "1"},
    MegatronRow{only, "there is no encoder", "",
                "encoder-tensor-model-parallel-size encoder-pipeline-model-parallel-size", "", "0"},
    MegatronRow{refused, "there are no pipeline stages", "standalone-embedding-stage",
                "num-layers-per-virtual-pipeline-stage num-virtual-stages-per-pipeline-rank "
                "pipeline-model-parallel-split-rank pipeline-model-parallel-layout "
                "decoder-first-pipeline-num-layers decoder-last-pipeline-num-layers"},
    MegatronRow{
        ignored, "one process has nothing to exchange",
        "sequence-parallel overlap-grad-reduce overlap-param-gather overlap-param-gather-with-optimizer-step "
        "use-distributed-optimizer use-torch-fsdp2 use-megatron-fsdp no-align-grad-reduce "
        "no-align-param-gather no-async-tensor-model-parallel-allreduce "
        "no-scatter-gather-tensors-in-pipeline use-ring-exchange-p2p no-overlap-p2p-communication "
        "overlap-p2p-communication-warmup-flush ddp-average-in-collective use-tp-pp-dp-mapping "
        "data-parallel-random-init distribute-saved-activations defer-embedding-wgrad-compute "
        "tp-comm-overlap tp-comm-overlap-rs-dgrad disable-tp-comm-bulk-dgrad disable-tp-comm-bulk-wgrad "
        "disable-tp-comm-overlap-ag disable-tp-comm-overlap-rs disable-tp-comm-split-ag "
        "disable-tp-comm-split-rs no-clone-scatter-output-in-embedding "
        "ddp-pad-buckets-for-high-nccl-busbw ddp-reduce-scatter-with-fp32-accumulation "
        "no-gradient-reduce-div-fusion use-nccl-ub create-all-gather-group use-sharp",
        "distributed-backend distributed-timeout-minutes distributed-timeout-seconds-after-init "
        "ddp-bucket-size ddp-num-buckets wgrad-deferral-limit local-rank nccl-communicator-config-path "
        "lazy-mpu-init "
        "tp-comm-overlap-cfg tp-comm-bootstrap-backend data-parallel-sharding-strategy "
        "microbatch-group-size-per-virtual-pipeline-stage check-weight-hash-across-dp-replicas-interval",
        "cp-comm-type hierarchical-context-parallel-sizes"},

    // Kernels, precision, memory.
    MegatronRow{ignored, "each operation picks its kernel itself",
                "use-flash-attn no-masked-softmax-fusion no-bias-gelu-fusion no-bias-swiglu-fusion "
                "no-bias-dropout-fusion no-rope-fusion cross-entropy-loss-fusion no-persist-layer-norm "
                "no-gradient-accumulation-fusion use-mcore-models use-legacy-models flash-decode "
                "enable-cuda-graph external-cuda-graph optimizer-cuda-graph te-rng-tracker "
                "use-transformer-engine-op-fuser use-fused-weighted-squared-relu delay-wgrad-compute "
                "enable-experimental gpt-block-return-loss-and-logits",
                "transformer-impl attention-backend core-attn-implementation cross-entropy-fusion-impl "
                "cuda-graph-impl cuda-graph-warmup-steps base-model onnx-safe",
                "cuda-graph-scope cuda-graph-modules"},
    MegatronRow{ignored, "softmax, cross-entropy and gradient sums are always in fp32",
                "attention-softmax-in-fp32 apply-query-key-layer-scaling accumulate-allreduce-grads-in-fp32 "
                "fp16-lm-cross-entropy use-precision-aware-optimizer"},
    MegatronRow{only, "masters, gradient sums and moments are kept in fp32", "",
                "main-grads-dtype main-params-dtype exp-avg-dtype exp-avg-sq-dtype", "", "fp32"},
    MegatronRow{refused, "the residual stream has the compute type", "fp32-residual-connection"},
    MegatronRow{refused, "gradients are summed in fp32", "grad-reduce-in-bf16"},
    MegatronRow{
        refused, "there is no FP8 or FP4 training",
        "fp8-param-gather no-fp8-wgrad fp4-param-gather first-last-layers-bf16 keep-fp8-transpose-cache",
        "fp8-format fp8-recipe fp8-margin fp8-interval fp8-amax-history-len fp8-amax-compute-algo fp4-format "
        "fp4-recipe num-layers-at-start-in-bf16 num-layers-at-end-in-bf16 te-precision-config-file"},
    MegatronRow{ignored, "activations are kept; recomputation changes memory, not numbers",
                "recompute-activations checkpoint-activations moe-layer-recompute",
                "recompute-granularity recompute-method recompute-num-layers", "recompute-modules"},
    MegatronRow{refused, "nothing is offloaded",
                "optimizer-cpu-offload use-torch-optimizer-for-cpu-offload overlap-cpu-optimizer-d2h-h2d "
                "no-pin-cpu-grads no-pin-cpu-params cpu-offloading",
                "optimizer-offload-fraction cpu-offloading-num-layers"},
    MegatronRow{ignored, "there is nothing to collect or synchronise",
                "manual-gc no-manual-gc-eval no-barrier-with-level-1-timing",
                "manual-gc-interval train-sync-interval empty-unused-memory-level"},
    MegatronRow{ignored, "runs are always repeatable", "deterministic-mode"},

    // The model.
    MegatronRow{refused, "there are no experts", "moe-grouped-gemm moe-router-pre-softmax moe-use-upcycling",
                "num-experts moe-layer-freq moe-ffn-hidden-size moe-shared-expert-intermediate-size"},
    MegatronRow{
        ignored, "there are no experts",
        "moe-shared-expert-overlap moe-use-legacy-grouped-gemm moe-per-layer-logging "
        "moe-pad-expert-input-to-capacity moe-extended-tp moe-permute-fusion moe-router-fusion",
        "moe-router-load-balancing-type moe-router-topk moe-router-topk-limited-devices "
        "moe-router-topk-scaling-factor moe-router-num-groups moe-router-group-topk moe-router-dtype "
        "moe-router-score-function moe-router-bias-update-rate moe-aux-loss-coeff moe-z-loss-coeff "
        "moe-input-jitter-eps moe-token-dispatcher-type moe-expert-capacity-factor moe-token-drop-policy"},
    MegatronRow{refused, "there is no latent attention", "multi-latent-attention cache-mla-latents",
                "q-lora-rank kv-lora-rank qk-head-dim qk-pos-emb-head-dim v-head-dim"},
    MegatronRow{refused, "rotary frequencies are not scaled or interleaved",
                "use-rope-scaling rotary-interleaved yarn-correction-range-round-to-int",
                "rope-scaling-factor rotary-scaling-factor no-rope-freq mscale mscale-all-dim yarn-beta-fast "
                "yarn-beta-slow yarn-original-max-position-embeddings"},
    MegatronRow{only, "rotary positions are not interpolated", "", "rotary-seq-len-interpolation-factor", "",
                "1"},
    MegatronRow{only, "rotary frequencies are not scaled", "", "rope-type", "", "rope"},
    MegatronRow{refused, "--swiglu, --geglu, --squared-relu and the exact GELU are the activations",
                "openai-gelu quick-geglu"},
    MegatronRow{refused, "layers are pre-norm with plain weights",
                "apply-layernorm-1p apply-residual-connection-post-layernorm"},
    MegatronRow{refused, "--init-method-std is the only initialisation", "init-method-xavier-uniform"},
    MegatronRow{refused, "attention sees the whole row", "",
                "window-size window-attn-skip-freq softmax-type"},
    MegatronRow{refused, "tokens are predicted one position at a time", "",
                "mtp-num-layers mtp-loss-scaling-factor"},
    MegatronRow{
        refused, "layers are all alike", "",
        "hybrid-attention-ratio hybrid-mlp-ratio hybrid-override-pattern hybrid-layer-pattern "
        "heterogeneous-layers-config-path heterogeneous-layers-config-encoded-json linear-attention-freq",
        "spec"},
    MegatronRow{refused, "a decoder has one stack; give --num-layers and --seq-length", "",
                "decoder-num-layers decoder-seq-length"},
    MegatronRow{ignored, "weights are drawn on the processor from the seed, the same anywhere",
                "use-cpu-initialization no-initialization init-model-with-meta-device"},
    MegatronRow{
        refused, "it belongs to BERT, T5, retrieval or vision models",
        "bert-no-binary-head output-bert-embeddings biencoder-shared-query-context-model use-one-sent-docs "
        "retriever-score-scaling vision-pretraining dino-norm-last-layer no-data-sharding "
        "retro-add-retriever retro-no-verify-neighbor-count",
        "bert-embedder-type bert-load biencoder-projection-dim ict-head-size ict-load titles-data-path "
        "query-in-block-prob evidence-data-path block-data-path embedding-path indexer-batch-size "
        "indexer-log-interval retriever-seq-length mask-prob short-seq-prob sample-rate mask-type "
        "mask-factor "
        "num-classes img-h img-w num-channels patch-dim classes-fraction data-per-class-fraction "
        "head-lr-mult "
        "iter-per-epoch vision-pretraining-type vision-backbone-type swin-backbone-type "
        "dino-local-img-size dino-local-crops-number dino-head-hidden-size dino-bottleneck-size "
        "dino-freeze-last-layer dino-warmup-teacher-temp dino-teacher-temp dino-warmup-teacher-temp-epochs "
        "retro-project-dir retro-cyclic-train-iters retro-encoder-layers retro-encoder-hidden-dropout "
        "retro-encoder-attention-dropout retro-num-neighbors retro-num-retrieved-chunks retro-attention-gate",
        "retriever-report-topk-accuracies"},

    // Tokenizer and data.
    MegatronRow{refused, "--tokenizer-model takes a tokenizer.json, or the folder that holds one", "",
                "vocab-file merge-file vocab-extra-ids tiktoken-pattern tiktoken-num-special-tokens",
                "tiktoken-special-tokens"},
    MegatronRow{
        ignored, "samples are drawn in the training process",
        "no-mmap-bin-files no-create-attention-mask-in-dataloader create-attention-mask-in-dataloader "
        "cut-off-varlen-to-seqlen dataloader-fast-cache-load dataloader-defer-npy-index-mmap",
        "num-workers num-dataset-builder-threads non-special-vocab-size mid-level-dataset-surplus"},
    MegatronRow{only, "each sample is used once an epoch", "", "dataloader-type", "", "single"},
    MegatronRow{ignored, "there is no evaluation on test data", "", "", "test-data-path"},
    MegatronRow{refused, "--data-path takes the prefixes", "build-data-cache-only renormalize-blend-weights",
                "data-args-path per-split-data-args-path per-dataset-sequences-path"},
    MegatronRow{refused, "data are local files", "", "s3-cache-path object-storage-cache-path"},
    MegatronRow{refused, "rows are documents as they are", "fim-data sft",
                "fim-rate fim-spm-rate fim-split-sample fim-fragment-rate fim-no-prefix fim-prefix-token "
                "fim-middle-token fim-suffix-token fim-pad-token fim-eod-token sft-tokenizer-prompt-format"},

    // Training.
    MegatronRow{only, "AdamW is the optimizer", "", "optimizer", "", "adam"},
    MegatronRow{ignored, "AdamW is the optimizer", "", "sgd-momentum lion-beta1 lion-beta2"},
    MegatronRow{only, "weight decay does not change", "", "weight-decay-incr-style", "", "constant"},
    MegatronRow{refused, "weight decay does not change: give --weight-decay", "apply-wd-to-qk-layernorm",
                "start-weight-decay end-weight-decay no-weight-decay-cond-type"},
    MegatronRow{refused, "all weights have the same learning rate", "", "decoupled-lr decoupled-min-lr"},
    MegatronRow{refused, "give --lr-warmup-fraction, --lr-warmup-iters or --lr-warmup-samples", "", "warmup"},
    MegatronRow{refused, "give --micro-batch-size and --global-batch-size", "", "batch-size"},
    MegatronRow{refused, "the batch size does not grow: give --global-batch-size",
                "decrease-batch-size-if-needed", "step-batch-size-schedule", "rampup-batch-size"},
    MegatronRow{ignored, "the loss is always the mean over the global batch's tokens",
                "calculate-per-token-loss"},
    MegatronRow{ignored, "SIGTERM and SIGUSR1 always save and exit", "exit-signal-handler adlr-autoresume",
                "adlr-autoresume-interval exit-signal"},
    MegatronRow{ignored, "losses and gradients are always checked, see --on-non-finite",
                "no-check-for-nan-in-loss-and-grad check-for-spiky-loss check-for-large-grads detect-anomaly",
                "rerun-mode error-injection-rate error-injection-type"},
    MegatronRow{refused, "use megadlm evaluate", "skip-train test-mode use-on-the-fly-eval"},
    MegatronRow{refused, "use --config FILE", "", "yaml-cfg"},

    // Checkpoints.
    MegatronRow{
        ignored, "checkpoints have one format, written and read whole",
        "use-dist-ckpt auto-detect-ckpt-format ckpt-fully-parallel-save no-ckpt-fully-parallel-save "
        "ckpt-fully-parallel-load ckpt-assume-constant-structure async-save use-persistent-ckpt-worker",
        "ckpt-format dist-ckpt-format dist-ckpt-strictness dist-ckpt-workers non-persistent-save-interval "
        "non-persistent-ckpt-type non-persistent-global-ckpt-dir non-persistent-local-ckpt-dir "
        "non-persistent-local-ckpt-algo"},
    MegatronRow{ignored, "random numbers have no state", "no-save-rng no-load-rng"},
    MegatronRow{refused, "checkpoints have one format", "ckpt-convert-update-legacy-dist-opt-format",
                "ckpt-convert-format ckpt-convert-save"},
    MegatronRow{refused, "give the options themselves, or the checkpoint's configuration with --config",
                "use-checkpoint-args use-mp-args-from-checkpoint-args"},
    MegatronRow{ignored, "the tokenizer is the one of --tokenizer-model",
                "no-use-tokenizer-model-from-checkpoint-args"},
    MegatronRow{refused, "a folder without a checkpoint starts fresh and says so",
                "exit-on-missing-checkpoint"},
    MegatronRow{refused, "use --init-from", "", "pretrained-checkpoint"},
    MegatronRow{refused, "checkpoints are saved at each --save-interval and loaded from the newest", "",
                "ckpt-step checkpoint-steps"},
    MegatronRow{ignored, "the schedule always follows this run's options", "override-opt-param-scheduler"},
    MegatronRow{refused, "the schedule always follows this run's options",
                "use-checkpoint-opt-param-scheduler"},

    // Logging and tools.
    MegatronRow{
        ignored, "metrics go to the log, to metrics.jsonl in --save and to --tensorboard-dir",
        "log-params-norm log-num-zeros-in-grad log-throughput log-progress log-timers-to-tensorboard "
        "log-validation-ppl-to-tensorboard log-memory-to-tensorboard log-world-size-to-tensorboard "
        "no-log-loss-scale-to-tensorboard no-log-learning-rate-to-tensorboard log-loss-scale-to-tensorboard "
        "log-learning-rate-to-tensorboard log-batch-size-to-tensorboard log-energy log-straggler "
        "disable-straggler-on-startup no-one-logger one-logger-async",
        "timing-log-level timing-log-option tensorboard-log-interval tensorboard-queue-size logging-level "
        "wandb-project wandb-entity wandb-exp-name wandb-group wandb-mode wandb-notes wandb-resume "
        "wandb-resume-from wandb-run-id wandb-save-dir wandb-tags one-logger-project one-logger-run-name "
        "straggler-ctrlr-port straggler-minmax-count app-tag-run-name app-tag-run-version config-logger-dir"},
    MegatronRow{ignored, "there is no profiler or debugger inside",
                "profile use-pytorch-profiler record-memory-history debug turn-on-debugpy enable-ft-package "
                "calc-ft-timeouts run-workload-inspector-server",
                "profile-step-start profile-step-end memory-snapshot-path ft-num-warmup-iters",
                "profile-ranks"},
    MegatronRow{ignored, "training does not generate text", "",
                "inference-batch-times-seqlen-threshold inference-max-seq-length inference-max-requests "
                "max-tokens-to-oom"},
};

}  // namespace

std::span<const MegatronRow> megatron_rows() { return kRows; }

}  // namespace megadlm::config
