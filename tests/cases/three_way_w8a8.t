What examples/w8a8-three-way/README.md shows is what its command prints
=======================================================================

  $ paritas targets | grep -q 'tflite:ref .*ready' || { echo 'skip: no TensorFlow Lite (tools/setup)'; exit 80; }
  $ cp -r "$EXAMPLES"/w8a8-three-way . && cd w8a8-three-way && export COLUMNS=100
  $ paritas check paritas.toml > check.txt 2> /dev/null
  [1]
  $ "$PYTHON" "$CASES"/data/shown_output.py README.md 'paritas check' check.txt
  as shown

The model is what its README says:

  $ paritas inspect efficientnet_lite0_logits_w8a8.tflite | head -8
  efficientnet_lite0_logits_w8a8.tflite: TFLite model, version 3, "EfficientNet-Lite0 from PyTorch weights"
  63 operators in 1 graph, 4,697,032 bytes of constants
  
  inputs      images uint8 [1,224,224,3]  scale, zero point 0.0078125, 127
  outputs     class_logits uint8 [1,1000]  scale, zero point 0.0649842, 75
  signature   serving_default: in images, out class_logits
  operators   CONV_2D 33, DEPTHWISE_CONV_2D 16, ADD 9, QUANTIZE 2, AVERAGE_POOL_2D 1, FULLY_CONNECTED
              1, RESHAPE 1
