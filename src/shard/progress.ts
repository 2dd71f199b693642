/** How far the making of a dataset is. */
export type PackProgress =
  | { stage: 'plan'; rows: number }
  | { stage: 'measure'; files: number; totalFiles: number }
  | {
      stage: 'pack';
      /** Shards that are whole. */
      shards: number;
      totalShards: number;
      items: number;
      totalItems: number;
      /** Of audio; `totalHours` is 0 where the plan knows no durations. */
      hours: number;
      totalHours: number;
      /** Items that earlier runs made. */
      resumedItems: number;
      /** Since this run began to pack. */
      seconds: number;
    }
  | { stage: 'finish' }
  | { stage: 'index'; shards: number; totalShards: number };

export type OnPackProgress = (progress: PackProgress) => void;
