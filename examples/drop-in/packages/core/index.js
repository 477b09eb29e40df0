export * from '@graphorin/tools/core';
