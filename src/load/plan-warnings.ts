/** Told once, before the first epoch. */
export interface PlanWarning {
  code: 'fewer_buckets' | 'scatter_loses_shards' | 'ranks_repeat' | 'static_buckets_ignored' | 'items_lost';
  message: string;
  hint: string | undefined;
}
