Are the weights of two models the same?
=======================================

Two files of one network: a float one, and a copy whose weights are codes. Each code must be the nearest one to the
float value, so at most half a step away.

  $ M=$EXAMPLES/w8a8-three-way/efficientnet_lite0_logits_w8a8.tflite
  $ paritas compare $M $M | head -1
  SAME WEIGHTS   100 weights: 100 equal

  $ $PYTHON $CASES/data/weight_models.py
  $ paritas compare float.onnx codes.onnx
  SAME WEIGHTS   1 weight: 1 within half a step
  
  first      float.onnx
  second     codes.onnx
  
  weight  read by  first    second                                            max steps  SQNR dB  note
  w       conv     float32  int8 per channel (2, axis 0)  within half a step      0.400     30.9
  
  Shows whether the second file's weights are the first's, rounded to its codes. Does not show that
  the graphs around them are the same, nor what rounding costs the network.

A code that is not the nearest:

  $ paritas compare float.onnx moved.onnx | head -8
  DIFFERENT WEIGHTS   1 weight: 1 differ; 1 of 6 values are further away than half a step
  
  first      float.onnx
  second     moved.onnx
  
  weight  read by  first    second                                max steps  SQNR dB  note
  w       conv     float32  int8 per channel (2, axis 0)  differ       1.00     17.4  1 of 6 beyond half a step, worst in channel 1
  

Options of recordings say nothing about weights:

  $ paritas compare float.onnx codes.onnx --gate 'w: cosine>=0.9'
  paritas: compare: of two models the weights are compared: gates and options of recordings do not apply; leave them out; paritas run and check compare what models compute
  [2]
