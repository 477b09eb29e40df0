export * from '@graphorin/tools/dataflow';
