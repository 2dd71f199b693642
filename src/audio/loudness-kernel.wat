;; What measuring loudness does for each sample, four numbers or two at a time: bringing a channel to the rate at which it is measured,
;; and its K-weighted energy. scripts/build.js makes loudness-kernel.wasm of it; loudness-kernel.ts says how it is called.
;;
;; Addresses and sizes are in bytes, samples are 32-bit floats.
(module
  (memory (export "memory") 1)

  ;; Writes the samples from $out up to $outEnd, of which there is one at least.
  ;;
  ;; $in is the first of the input samples that the first output is made of, $row what they are multiplied with: as many numbers of the
  ;; bank of filters, $rowBytes of them, a multiple of 32. From the end of one row to the next output it is $inStep and $rowStep further,
  ;; and one sample more where that is beyond the bank, which ends at $bankEnd and has $bankBytes.
  ;;
  ;; Only two vectors are in the inner loop: of more, V8 loads all before it multiplies the first, and runs out of registers.
  (func (export "resample")
    (param $in i32) (param $inStep i32) (param $row i32) (param $rowStep i32)
    (param $out i32) (param $outEnd i32)
    (param $rowBytes i32) (param $bankBytes i32) (param $bankEnd i32)
    (local $inEnd i32) (local $sums v128) (local $isBeyond i32)
    (loop $outputs
      (local.set $inEnd (i32.add (local.get $in) (local.get $rowBytes)))
      (local.set $sums (v128.const f32x4 0 0 0 0))
      (loop $taps
        (local.set $sums
          (f32x4.add (local.get $sums) (f32x4.mul (v128.load (local.get $row)) (v128.load (local.get $in)))))
        (local.set $sums
          (f32x4.add (local.get $sums) (f32x4.mul (v128.load offset=16 (local.get $row)) (v128.load offset=16 (local.get $in)))))
        (local.set $row (i32.add (local.get $row) (i32.const 32)))
        (local.set $in (i32.add (local.get $in) (i32.const 32)))
        (br_if $taps (i32.lt_u (local.get $in) (local.get $inEnd))))

      (local.set $sums (f32x4.add (local.get $sums)
        (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $sums) (local.get $sums))))
      (f32.store (local.get $out)
        (f32.add (f32x4.extract_lane 0 (local.get $sums)) (f32x4.extract_lane 1 (local.get $sums))))

      (local.set $row (i32.add (local.get $row) (local.get $rowStep)))
      (local.set $isBeyond (i32.ge_u (local.get $row) (local.get $bankEnd)))
      (local.set $row
        (i32.sub (local.get $row) (select (local.get $bankBytes) (i32.const 0) (local.get $isBeyond))))
      (local.set $in
        (i32.add (i32.add (local.get $in) (local.get $inStep)) (i32.shl (local.get $isBeyond) (i32.const 2))))
      (local.set $out (i32.add (local.get $out) (i32.const 4)))
      (br_if $outputs (i32.lt_u (local.get $out) (local.get $outEnd)))))

  ;; Sums up the squares of the weighted samples from $at to $end, of which there is one at least.
  ;;
  ;; Two filters run side by side, the shelf on one sample in the first half of a vector, the high-pass on what the shelf made of the
  ;; sample before in the second half. At $filters stand their b0, b1 - a1 b0, b2 - a2 b0, a1 and a2, each of the shelf and of the
  ;; high-pass, as 64-bit floats; at $before their states. The states behind the last sample are written to $after, and behind them, as
  ;; a 32-bit float, the height of the highest sample.
  (func (export "energy")
    (param $at i32) (param $end i32) (param $filters i32) (param $before i32) (param $after i32)
    (result f64)
    (local $b0 v128) (local $into1 v128) (local $into2 v128) (local $a1 v128) (local $a2 v128)
    (local $state1 v128) (local $state2 v128) (local $old1 v128) (local $old2 v128)
    (local $sample v128) (local $input v128) (local $output v128) (local $energy v128) (local $highest v128)
    (local.set $b0 (v128.load (local.get $filters)))
    (local.set $into1 (v128.load offset=16 (local.get $filters)))
    (local.set $into2 (v128.load offset=32 (local.get $filters)))
    (local.set $a1 (v128.load offset=48 (local.get $filters)))
    (local.set $a2 (v128.load offset=64 (local.get $filters)))
    (local.set $old1 (v128.load (local.get $before)))
    (local.set $old2 (v128.load offset=16 (local.get $before)))

    ;; The shelf alone, on the first sample.
    (local.set $sample (v128.load32_zero (local.get $at)))
    (local.set $highest (f32x4.abs (local.get $sample)))
    (local.set $input (f64x2.promote_low_f32x4 (local.get $sample)))
    (local.set $output (f64x2.add (f64x2.mul (local.get $b0) (local.get $input)) (local.get $old1)))
    (local.set $state1 (f64x2.sub
      (f64x2.add (f64x2.mul (local.get $into1) (local.get $input)) (local.get $old2))
      (f64x2.mul (local.get $a1) (local.get $old1))))
    (local.set $state2 (f64x2.sub
      (f64x2.mul (local.get $into2) (local.get $input))
      (f64x2.mul (local.get $a2) (local.get $old1))))
    (local.set $state1
      (i8x16.shuffle 0 1 2 3 4 5 6 7 24 25 26 27 28 29 30 31 (local.get $state1) (local.get $old1)))
    (local.set $state2
      (i8x16.shuffle 0 1 2 3 4 5 6 7 24 25 26 27 28 29 30 31 (local.get $state2) (local.get $old2)))

    (block $done
      (loop $samples
        (local.set $at (i32.add (local.get $at) (i32.const 4)))
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $sample (v128.load32_zero (local.get $at)))
        (local.set $highest (f32x4.pmax (local.get $highest) (f32x4.abs (local.get $sample))))
        (local.set $input (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
          (f64x2.promote_low_f32x4 (local.get $sample)) (local.get $output)))
        (local.set $output (f64x2.add (f64x2.mul (local.get $b0) (local.get $input)) (local.get $state1)))
        (local.set $energy (f64x2.add (local.get $energy) (f64x2.mul (local.get $output) (local.get $output))))
        (local.set $old1 (local.get $state1))
        (local.set $state1 (f64x2.sub
          (f64x2.add (f64x2.mul (local.get $into1) (local.get $input)) (local.get $state2))
          (f64x2.mul (local.get $a1) (local.get $old1))))
        (local.set $state2 (f64x2.sub
          (f64x2.mul (local.get $into2) (local.get $input))
          (f64x2.mul (local.get $a2) (local.get $old1))))
        (br $samples)))

    ;; The high-pass alone, on what the shelf made of the last sample.
    (local.set $old1 (local.get $state1))
    (local.set $old2 (local.get $state2))
    (local.set $input
      (i8x16.shuffle 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 (local.get $output) (local.get $output)))
    (local.set $output (f64x2.add (f64x2.mul (local.get $b0) (local.get $input)) (local.get $state1)))
    (local.set $energy (f64x2.add (local.get $energy) (f64x2.mul (local.get $output) (local.get $output))))
    (local.set $state1 (f64x2.sub
      (f64x2.add (f64x2.mul (local.get $into1) (local.get $input)) (local.get $old2))
      (f64x2.mul (local.get $a1) (local.get $old1))))
    (local.set $state2 (f64x2.sub
      (f64x2.mul (local.get $into2) (local.get $input))
      (f64x2.mul (local.get $a2) (local.get $old1))))
    (local.set $state1
      (i8x16.shuffle 0 1 2 3 4 5 6 7 24 25 26 27 28 29 30 31 (local.get $old1) (local.get $state1)))
    (local.set $state2
      (i8x16.shuffle 0 1 2 3 4 5 6 7 24 25 26 27 28 29 30 31 (local.get $old2) (local.get $state2)))

    ;; Smaller states than these are slow to reckon with, and nothing hears them.
    (v128.store (local.get $after) (v128.and (local.get $state1)
      (f64x2.ge (f64x2.abs (local.get $state1)) (v128.const f64x2 1e-30 1e-30))))
    (v128.store offset=16 (local.get $after) (v128.and (local.get $state2)
      (f64x2.ge (f64x2.abs (local.get $state2)) (v128.const f64x2 1e-30 1e-30))))
    (f32.store offset=32 (local.get $after) (f32x4.extract_lane 0 (local.get $highest)))
    (f64x2.extract_lane 1 (local.get $energy)))
)
