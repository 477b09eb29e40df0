export * from '@graphorin/tools/guard';
