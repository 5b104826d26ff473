Three recordings of one model
=============================

What differs between host and board with the accelerator switched off is not the accelerator's.

  $ M=$EXAMPLES/detr-mini
  $ for target in cpu cpu,opt=all sim:fp16; do
  >   paritas run $M/detr_mini.onnx --input images=$M/images.npy --input orig_target_sizes=$M/orig_target_sizes.npy \
  >     --target $target -o "$(echo $target | tr ':,=' ___)" --quiet
  > done
  $ paritas compare cpu cpu_opt_all sim_fp16 | head -14
  NOT JUDGED   cpu_opt_all: labels: no gate covers it
               cpu_opt_all: boxes: no gate covers it
               cpu_opt_all: ... and 1 more (--verbose shows all)
               sim_fp16: labels: no gate covers it
               sim_fp16: boxes: no gate covers it
               sim_fp16: ... and 1 more (--verbose shows all)
  
  output  cpu / cpu_opt_all             cpu / sim_fp16                cpu_opt_all / sim_fp16
  labels  equal                         2 differ                      2 differ
  boxes   cosine 1.000000, max 1.2e-04  cosine 0.998769, max 168.1    cosine 0.998769, max 168.1
  scores  cosine 1.000000, max 8.9e-08  cosine 1.000000, max 3.9e-04  cosine 1.000000, max 3.9e-04
  
  cpu and cpu_opt_all differ with no accelerator, delegate or simulated device in use.
  Differences exist without the accelerator, so those to the accelerator are not the accelerator's
