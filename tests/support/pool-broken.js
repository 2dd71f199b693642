// A program that ends before it can take a job.
throw new Error('this build is broken');
