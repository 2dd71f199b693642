;; Bringing samples to a rate that is so many times lower. scripts/build.js makes decimating-kernel.wasm of it; decimating-kernel.ts says how
;; it is called.
;;
;; Addresses and sizes are in bytes, samples are 32-bit floats.
(module
  (memory (export "memory") 1)

  ;; Writes the samples from $out up to $outEnd, of which there is one at least, and up to three more that mean nothing.
  ;;
  ;; $center is the sample that the first output lies on; from one output to the next it is $step further. At $taps stand what that sample is
  ;; multiplied with, in the first of four places, and then, up to $tapsEnd, what its neighbours on both sides are: a multiple of 16 bytes.
  ;;
  ;; Each of four outputs has a vector of its own for its sum, so that none waits for another, and what is loaded of the taps serves them all.
  (func (export "decimate")
    (param $center i32) (param $step i32) (param $taps i32) (param $tapsEnd i32) (param $out i32) (param $outEnd i32)
    (local $step2 i32) (local $step3 i32) (local $left i32) (local $right i32) (local $tapsAt i32)
    (local $weights v128) (local $mirrored v128)
    (local $sum0 v128) (local $sum1 v128) (local $sum2 v128) (local $sum3 v128)
    (local.set $step2 (i32.shl (local.get $step) (i32.const 1)))
    (local.set $step3 (i32.add (local.get $step2) (local.get $step)))
    (loop $outputs
      (local.set $weights (v128.load32_zero (local.get $taps)))
      (local.set $sum0 (f32x4.mul (local.get $weights) (v128.load32_zero (local.get $center))))
      (local.set $sum1 (f32x4.mul (local.get $weights) (v128.load32_zero (i32.add (local.get $center) (local.get $step)))))
      (local.set $sum2 (f32x4.mul (local.get $weights) (v128.load32_zero (i32.add (local.get $center) (local.get $step2)))))
      (local.set $sum3 (f32x4.mul (local.get $weights) (v128.load32_zero (i32.add (local.get $center) (local.get $step3)))))
      (local.set $left (i32.sub (local.get $center) (i32.const 16)))
      (local.set $right (i32.add (local.get $center) (i32.const 4)))
      (local.set $tapsAt (i32.add (local.get $taps) (i32.const 16)))
      (loop $neighbours
        (local.set $weights (v128.load (local.get $tapsAt)))
        (local.set $mirrored (v128.load (local.get $left)))
        (local.set $sum0 (f32x4.add (local.get $sum0) (f32x4.mul (local.get $weights) (f32x4.add
          (v128.load (local.get $right))
          (i8x16.shuffle 12 13 14 15 8 9 10 11 4 5 6 7 0 1 2 3 (local.get $mirrored) (local.get $mirrored))))))
        (local.set $mirrored (v128.load (i32.add (local.get $left) (local.get $step))))
        (local.set $sum1 (f32x4.add (local.get $sum1) (f32x4.mul (local.get $weights) (f32x4.add
          (v128.load (i32.add (local.get $right) (local.get $step)))
          (i8x16.shuffle 12 13 14 15 8 9 10 11 4 5 6 7 0 1 2 3 (local.get $mirrored) (local.get $mirrored))))))
        (local.set $mirrored (v128.load (i32.add (local.get $left) (local.get $step2))))
        (local.set $sum2 (f32x4.add (local.get $sum2) (f32x4.mul (local.get $weights) (f32x4.add
          (v128.load (i32.add (local.get $right) (local.get $step2)))
          (i8x16.shuffle 12 13 14 15 8 9 10 11 4 5 6 7 0 1 2 3 (local.get $mirrored) (local.get $mirrored))))))
        (local.set $mirrored (v128.load (i32.add (local.get $left) (local.get $step3))))
        (local.set $sum3 (f32x4.add (local.get $sum3) (f32x4.mul (local.get $weights) (f32x4.add
          (v128.load (i32.add (local.get $right) (local.get $step3)))
          (i8x16.shuffle 12 13 14 15 8 9 10 11 4 5 6 7 0 1 2 3 (local.get $mirrored) (local.get $mirrored))))))
        (local.set $left (i32.sub (local.get $left) (i32.const 16)))
        (local.set $right (i32.add (local.get $right) (i32.const 16)))
        (local.set $tapsAt (i32.add (local.get $tapsAt) (i32.const 16)))
        (br_if $neighbours (i32.lt_u (local.get $tapsAt) (local.get $tapsEnd))))

      ;; The four numbers of each vector are added up, those of all four vectors at once.
      (local.set $sum0 (f32x4.add
        (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $sum0) (local.get $sum1))
        (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $sum0) (local.get $sum1))))
      (local.set $sum2 (f32x4.add
        (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $sum2) (local.get $sum3))
        (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $sum2) (local.get $sum3))))
      (v128.store (local.get $out) (f32x4.add
        (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $sum0) (local.get $sum2))
        (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $sum0) (local.get $sum2))))

      (local.set $center (i32.add (local.get $center) (i32.shl (local.get $step) (i32.const 2))))
      (local.set $out (i32.add (local.get $out) (i32.const 16)))
      (br_if $outputs (i32.lt_u (local.get $out) (local.get $outEnd)))))
)
